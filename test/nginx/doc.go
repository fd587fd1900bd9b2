// Package nginx tests what is rendered for provider Nginx with the real nginx.
package nginx
