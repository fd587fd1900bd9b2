package tcpingress

import (
	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/admission"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/validate"
)

// AdmissionPath is where the API server asks about our kinds.
const AdmissionPath = "/admission/validate"

// Admission judges TCPIngresses and TCPIngressClasses by what one object can tell,
// with the rules that the hooks apply to what is stored. Conflicts are not its
// business: they need the book.
func Admission() admission.Hook {
	version := crdv1.GroupVersion()
	return admission.New(AdmissionPath,
		admission.For(version.WithKind("TCPIngress"), admitIngress),
		admission.For(version.WithKind("TCPIngressClass"), admitClass),
	)
}

func admitIngress(_, after *crdv1.TCPIngress) admission.Verdict {
	if errs := validate.TCPIngress(after); len(errs) > 0 {
		return admission.Verdict{Errors: errs}
	}
	return admission.Verdict{Warnings: validate.Warnings(after)}
}

func admitClass(before, after *crdv1.TCPIngressClass) admission.Verdict {
	errs := validate.Class(&after.Spec, after.Name)
	if before != nil {
		errs = append(errs, validate.ClassUpdate(&before.Spec, &after.Spec, after.Name)...)
	}
	if len(errs) > 0 {
		return admission.Verdict{Errors: errs}
	}
	return admission.Verdict{Warnings: validate.ClassWarnings(&after.Spec)}
}
