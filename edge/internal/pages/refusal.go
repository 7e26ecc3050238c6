package pages

import (
	"net/http"

	"github.com/shortline/shortline/edge/internal/apierror"
)

// Refusal is an error answer, rendered once as JSON, and once as a page in each language with the brand of the service. Callers must not
// change it.
type Refusal struct {
	Status int
	JSON   []byte // for programs

	own   *Set                   // the pages with the brand of the service
	texts [len(languages)]notice // the page of a language without a text is in English
	pages [len(languages)]Page   // of own
}

func newRefusal(own *Set, status int, texts [len(languages)]notice) *Refusal {
	r := &Refusal{Status: status, own: own, texts: texts}
	r.JSON = r.JSONWith("")
	for l := range r.pages {
		r.pages[l] = own.renderRefusal(r, Language(l))
	}
	return r
}

// JSONWith returns the JSON body with the id of the request; "" means none.
func (r *Refusal) JSONWith(requestID string) []byte {
	return apierror.Body(r.Status, r.texts[0].text, nil, requestID)
}

// Refusal returns the page of a refusal. It neither renders nor allocates if s has the brand of the service.
func (s *Set) Refusal(r *Refusal, l Language) Page {
	if s == r.own {
		return r.pages[l]
	}
	return s.renderRefusal(r, l)
}

// renderRefusal returns the page of a refusal, which it renders once.
func (s *Set) renderRefusal(r *Refusal, l Language) Page {
	if r.texts[l].heading == "" {
		l = 0
	}
	text := &r.texts[l]
	if p, ok := s.refusals.Load(text); ok {
		return p.(Page)
	}
	p := s.notify(*text, l)
	s.refusals.Store(text, p)
	return p
}

// notice is the text of a page that says why there is no redirect. Next says what to do; programs are not told.
type notice struct{ heading, text, next string }

// notices are the texts of refusals by status, in the order of languages. Errors that programs cause are in English only. The page
// shows the whole notice; the JSON body contains the English text.
var notices = map[int][len(languages)]notice{
	http.StatusBadRequest: {{"Bad request", "The request is malformed.", ""}},
	http.StatusNotFound: {
		{"Link not found",
			"No link works at this address. Check it for typing errors, or try again later if the link starts later.",
			"If the address is right, ask the person who gave it to you."},
		{"Link nicht gefunden", "Unter dieser Adresse gibt es keinen Link. Prüfen Sie sie auf Tippfehler, oder versuchen Sie es später " +
			"noch einmal, falls der Link erst später beginnt.", "Fragen Sie sonst die Person, von der Sie die Adresse haben."},
		{"Lien introuvable", "Aucun lien n’existe à cette adresse. Vérifiez qu’elle ne contient pas de faute de frappe, ou réessayez plus " +
			"tard si le lien commence plus tard.", "Sinon, demandez à la personne qui vous l’a donnée."},
		{"Enlace no encontrado", "No hay ningún enlace en esta dirección. Comprueba que no tenga erratas o inténtalo más tarde si el " +
			"enlace empieza más tarde.", "Si no, pregunta a la persona que te la dio."},
		{"リンクが見つかりません", "このアドレスにはリンクがありません。入力に誤りがないか確認してください。リンクの開始前の場合は、後でもう一度お試しください。",
			"解決しない場合は、アドレスを教えてくれた人に確認してください。"},
		{"الرابط غير موجود", "لا يوجد رابط في هذا العنوان. تحقق من عدم وجود أخطاء مطبعية، أو حاول لاحقًا إن كان الرابط يبدأ لاحقًا.",
			"وإلا فاسأل من أعطاك العنوان."},
	},
	http.StatusMethodNotAllowed: {{"Method not allowed", "This address does not support that method.", ""}},
	http.StatusRequestTimeout:   {{"Request timeout", "The request took too long to arrive.", ""}},
	http.StatusGone: {
		{"Link no longer available", "This link has expired or has been turned off.",
			"Ask the person who gave it to you for a new one."},
		{"Link nicht mehr verfügbar", "Dieser Link ist abgelaufen oder wurde abgeschaltet.",
			"Fragen Sie die Person, von der Sie ihn haben, nach einem neuen."},
		{"Lien indisponible", "Ce lien a expiré ou a été désactivé.", "Demandez-en un nouveau à la personne qui vous l’a donné."},
		{"Enlace no disponible", "Este enlace ha caducado o se ha desactivado.", "Pide uno nuevo a la persona que te lo dio."},
		{"リンクは利用できません", "このリンクは期限切れか、無効になっています。", "教えてくれた人に新しいリンクを尋ねてください。"},
		{"الرابط لم يعد متاحًا", "انتهت صلاحية هذا الرابط أو أُوقف.", "اطلب رابطًا جديدًا ممن أعطاك إياه."},
	},
	http.StatusRequestEntityTooLarge: {{"Request too large", "The request body is too large for this address.", ""}},
	http.StatusUnsupportedMediaType:  {{"Unsupported media type", "Send the password as JSON or as a form.", ""}},
	http.StatusMisdirectedRequest: {
		{"Unknown host", "This service does not answer for the host name of this address.",
			"Check the address, or ask the person who gave it to you."},
		{"Unbekannter Host", "Dieser Dienst antwortet nicht für den Hostnamen dieser Adresse.",
			"Prüfen Sie die Adresse, oder fragen Sie die Person, von der Sie sie haben."},
		{"Hôte inconnu", "Ce service ne répond pas pour le nom d’hôte de cette adresse.",
			"Vérifiez l’adresse ou demandez à la personne qui vous l’a donnée."},
		{"Host desconocido", "Este servicio no responde por el nombre de host de esta dirección.",
			"Comprueba la dirección o pregunta a la persona que te la dio."},
		{"不明なホスト", "このサービスは、このアドレスのホスト名には応答しません。", "アドレスを確認するか、教えてくれた人に尋ねてください。"},
		{"مضيف غير معروف", "لا تجيب هذه الخدمة عن اسم المضيف في هذا العنوان.", "تحقق من العنوان أو اسأل من أعطاك إياه."},
	},
	http.StatusTooManyRequests: {
		{"Too many attempts", "Too many passwords were tried. Wait a while and try again.", ""},
		{"Zu viele Versuche", "Es wurden zu viele Passwörter ausprobiert. Warten Sie eine Weile, und versuchen Sie es dann noch einmal.", ""},
		{"Trop de tentatives", "Trop de mots de passe ont été essayés. Attendez un moment, puis réessayez.", ""},
		{"Demasiados intentos", "Se han probado demasiadas contraseñas. Espera un rato y vuelve a intentarlo.", ""},
		{"試行回数が多すぎます", "パスワードが何度も試されました。しばらく待ってからもう一度お試しください。", ""},
		{"محاولات كثيرة جدًا", "جُرّبت كلمات مرور كثيرة. انتظر قليلًا ثم حاول مرة أخرى.", ""},
	},
	http.StatusRequestHeaderFieldsTooLarge: {{"Request header too large", "The request line and the header are larger than 8 KiB.", ""}},
	http.StatusInternalServerError: {
		{"Something went wrong", "An internal error occurred. It has been logged.", "Try again later."},
		{"Etwas ist schiefgegangen", "Ein interner Fehler ist aufgetreten. Er wurde protokolliert.", "Versuchen Sie es später noch einmal."},
		{"Une erreur est survenue", "Une erreur interne s’est produite. Elle a été consignée.", "Réessayez plus tard."},
		{"Algo ha fallado", "Se ha producido un error interno. Ha quedado registrado.", "Inténtalo más tarde."},
		{"問題が発生しました", "内部エラーが発生し、記録されました。", "後でもう一度お試しください。"},
		{"حدث خطأ ما", "حدث خطأ داخلي وسُجّل.", "حاول لاحقًا."},
	},
	http.StatusServiceUnavailable: {
		{"Service unavailable", "The service cannot answer at the moment. Try again soon.", ""},
		{"Dienst nicht verfügbar", "Der Dienst kann gerade nicht antworten. Versuchen Sie es bald noch einmal.", ""},
		{"Service indisponible", "Le service ne peut pas répondre pour le moment. Réessayez bientôt.", ""},
		{"Servicio no disponible", "El servicio no puede responder en este momento. Inténtalo de nuevo en breve.", ""},
		{"サービスを利用できません", "サービスは現在応答できません。しばらくしてからもう一度お試しください。", ""},
		{"الخدمة غير متاحة", "لا تستطيع الخدمة الرد حاليًا. حاول بعد قليل.", ""},
	},
	http.StatusLoopDetected: {
		{"Redirect loop", "This link leads back to this service, so it is not followed.", "Tell the person who gave it to you."},
		{"Weiterleitung im Kreis", "Dieser Link führt zu diesem Dienst zurück, deshalb wird ihm nicht gefolgt.",
			"Sagen Sie es der Person, von der Sie ihn haben."},
		{"Boucle de redirection", "Ce lien ramène à ce service, il n’est donc pas suivi.", "Signalez-le à la personne qui vous l’a donné."},
		{"Bucle de redirección", "Este enlace vuelve a este servicio, así que no se sigue.", "Avisa a la persona que te lo dio."},
		{"転送がループしています", "このリンクはこのサービス自体に戻るため、転送されません。", "教えてくれた人に知らせてください。"},
		{"حلقة إعادة توجيه", "يعود هذا الرابط إلى هذه الخدمة نفسها، لذلك لا يُتبع.", "أخبر من أعطاك إياه."},
	},
}

// tooManyTexts and suspendedTexts are the notices whose status another notice has, too.
var tooManyTexts = [len(languages)]notice{
	{"Too many requests", "Too many requests came from your address. Wait a while and try again.", ""},
	{"Zu viele Anfragen", "Von Ihrer Adresse kamen zu viele Anfragen. Warten Sie eine Weile, und versuchen Sie es dann noch einmal.", ""},
	{"Trop de requêtes", "Trop de requêtes sont venues de votre adresse. Attendez un moment, puis réessayez.", ""},
	{"Demasiadas solicitudes", "Han llegado demasiadas solicitudes desde tu dirección. Espera un rato y vuelve a intentarlo.", ""},
	{"リクエストが多すぎます", "お使いのアドレスからのリクエストが多すぎます。しばらく待ってからもう一度お試しください。", ""},
	{"طلبات كثيرة جدًا", "وصلت طلبات كثيرة من عنوانك. انتظر قليلًا ثم حاول مرة أخرى.", ""},
}

var suspendedTexts = [len(languages)]notice{
	{"Address not available", "The host name of this address has been taken out of service.",
		"Ask the person who gave you the address for another one."},
	{"Adresse nicht verfügbar", "Der Hostname dieser Adresse wurde außer Betrieb genommen.",
		"Fragen Sie die Person, von der Sie die Adresse haben, nach einer anderen."},
	{"Adresse indisponible", "Le nom d’hôte de cette adresse a été mis hors service.",
		"Demandez-en une autre à la personne qui vous l’a donnée."},
	{"Dirección no disponible", "El nombre de host de esta dirección se ha retirado del servicio.",
		"Pide otra a la persona que te la dio."},
	{"アドレスは利用できません", "このアドレスのホスト名は使用が停止されています。",
		"アドレスを教えてくれた人に別のアドレスを尋ねてください。"},
	{"العنوان غير متاح", "أُخرج اسم مضيف هذا العنوان من الخدمة.",
		"اطلب عنوانًا آخر ممن أعطاك إياه."},
}
