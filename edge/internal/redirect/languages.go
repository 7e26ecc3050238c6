package redirect

import (
	"net/http"

	"github.com/shortline/shortline/shared/accept"
	"github.com/valyala/fasthttp"
)

// pageLanguages are the languages of the pages for visitors, which are those of the console. The first is for everybody else.
var pageLanguages = [...]string{"en", "de", "fr", "es", "ja", "ar"}

// pageLanguage is an index of pageLanguages.
type pageLanguage uint8

// maxAcceptLanguage is how much of an Accept-Language header is read. Browsers send less.
const maxAcceptLanguage = 256

// languageOf returns the language of the pages that an Accept-Language header ranks highest. It does not allocate, because every visitor
// of an address without a link needs it.
func languageOf(header []byte) pageLanguage {
	header = header[:min(len(header), maxAcceptLanguage)]
	var best pageLanguage
	most := 0
	for tag, parameters := range accept.Elements(view(header)) {
		for i, one := range pageLanguages {
			if !isOfLanguage(tag, one) {
				continue
			}
			if weight := parameters.Weight(); weight > most {
				best, most = pageLanguage(i), weight
			}
		}
	}
	return best
}

// asksHTML reports whether a request prefers pages to JSON.
func asksHTML(ctx *fasthttp.RequestCtx) bool {
	return prefersHTML(first(ctx.Request.Header.RawHeaders(), "accept"))
}

// languageAsked returns the language of the pages that a request prefers.
func languageAsked(ctx *fasthttp.RequestCtx) pageLanguage {
	return languageOf(first(ctx.Request.Header.RawHeaders(), "accept-language"))
}

// isOfLanguage reports whether a tag such as de-AT is of a language.
func isOfLanguage(tag, language string) bool {
	return len(tag) >= 2 && tag[0]|0x20 == language[0] && tag[1]|0x20 == language[1] && (len(tag) == 2 || tag[2] == '-')
}

// notice is the text of a page that says why there is no redirect. Next says what to do; programs are not told.
type notice struct{ heading, text, next string }

// translated are the notices that visitors see, in the order of pageLanguages after English. Errors of programs are in English only.
var translated = map[int][len(pageLanguages) - 1]notice{
	http.StatusNotFound: {
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
	http.StatusGone: {
		{"Link nicht mehr verfügbar", "Dieser Link ist abgelaufen oder wurde abgeschaltet.",
			"Fragen Sie die Person, von der Sie ihn haben, nach einem neuen."},
		{"Lien indisponible", "Ce lien a expiré ou a été désactivé.", "Demandez-en un nouveau à la personne qui vous l’a donné."},
		{"Enlace no disponible", "Este enlace ha caducado o se ha desactivado.", "Pide uno nuevo a la persona que te lo dio."},
		{"リンクは利用できません", "このリンクは期限切れか、無効になっています。", "教えてくれた人に新しいリンクを尋ねてください。"},
		{"الرابط لم يعد متاحًا", "انتهت صلاحية هذا الرابط أو أُوقف.", "اطلب رابطًا جديدًا ممن أعطاك إياه."},
	},
	http.StatusMisdirectedRequest: {
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
		{"Zu viele Versuche", "Es wurden zu viele falsche Passwörter eingegeben. Warten Sie eine Weile, und versuchen Sie es dann noch einmal.", ""},
		{"Trop de tentatives", "Trop de mots de passe erronés ont été saisis. Attendez un moment, puis réessayez.", ""},
		{"Demasiados intentos", "Se han introducido demasiadas contraseñas incorrectas. Espera un rato y vuelve a intentarlo.", ""},
		{"試行回数が多すぎます", "誤ったパスワードが何度も入力されました。しばらく待ってからもう一度お試しください。", ""},
		{"محاولات كثيرة جدًا", "أُدخلت كلمات مرور خاطئة كثيرة. انتظر قليلًا ثم حاول مرة أخرى.", ""},
	},
	http.StatusInternalServerError: {
		{"Etwas ist schiefgegangen", "Ein interner Fehler ist aufgetreten. Er wurde protokolliert.", "Versuchen Sie es später noch einmal."},
		{"Une erreur est survenue", "Une erreur interne s’est produite. Elle a été consignée.", "Réessayez plus tard."},
		{"Algo ha fallado", "Se ha producido un error interno. Ha quedado registrado.", "Inténtalo más tarde."},
		{"問題が発生しました", "内部エラーが発生し、記録されました。", "後でもう一度お試しください。"},
		{"حدث خطأ ما", "حدث خطأ داخلي وسُجّل.", "حاول لاحقًا."},
	},
	http.StatusServiceUnavailable: {
		{"Dienst nicht verfügbar", "Der Dienst kann gerade nicht antworten. Versuchen Sie es bald noch einmal.", ""},
		{"Service indisponible", "Le service ne peut pas répondre pour le moment. Réessayez bientôt.", ""},
		{"Servicio no disponible", "El servicio no puede responder en este momento. Inténtalo de nuevo en breve.", ""},
		{"サービスを利用できません", "サービスは現在応答できません。しばらくしてからもう一度お試しください。", ""},
		{"الخدمة غير متاحة", "لا تستطيع الخدمة الرد حاليًا. حاول بعد قليل.", ""},
	},
	http.StatusLoopDetected: {
		{"Weiterleitung im Kreis", "Dieser Link führt zu diesem Dienst zurück, deshalb wird ihm nicht gefolgt.",
			"Sagen Sie es der Person, von der Sie ihn haben."},
		{"Boucle de redirection", "Ce lien ramène à ce service, il n’est donc pas suivi.", "Signalez-le à la personne qui vous l’a donné."},
		{"Bucle de redirección", "Este enlace vuelve a este servicio, así que no se sigue.", "Avisa a la persona que te lo dio."},
		{"転送がループしています", "このリンクはこのサービス自体に戻るため、転送されません。", "教えてくれた人に知らせてください。"},
		{"حلقة إعادة توجيه", "يعود هذا الرابط إلى هذه الخدمة نفسها، لذلك لا يُتبع.", "أخبر من أعطاك إياه."},
	},
}

// tooManyTexts and suspendedTexts are the notices whose status another notice has, too.
var tooManyTexts = [len(pageLanguages)]notice{
	{"Too many requests", "Too many requests came from your address. Wait a while and try again.", ""},
	{"Zu viele Anfragen", "Von Ihrer Adresse kamen zu viele Anfragen. Warten Sie eine Weile, und versuchen Sie es dann noch einmal.", ""},
	{"Trop de requêtes", "Trop de requêtes sont venues de votre adresse. Attendez un moment, puis réessayez.", ""},
	{"Demasiadas solicitudes", "Han llegado demasiadas solicitudes desde tu dirección. Espera un rato y vuelve a intentarlo.", ""},
	{"リクエストが多すぎます", "お使いのアドレスからのリクエストが多すぎます。しばらく待ってからもう一度お試しください。", ""},
	{"طلبات كثيرة جدًا", "وصلت طلبات كثيرة من عنوانك. انتظر قليلًا ثم حاول مرة أخرى.", ""},
}

var suspendedTexts = [len(pageLanguages)]notice{
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

// formWords are the texts of the password form and of the page after it, in one language.
type formWords struct{ Heading, Hint, Wrong, Password, Continue, Open, Right string }

var formTexts = [len(pageLanguages)]formWords{
	{"Password required", "This link is protected. Enter the password to continue." +
		" If you do not know it, ask the person who gave you the link.", "The password is wrong. Try again.", "Password",
		"Continue", "Open the link", "The password is right. This link opens an application:"},
	{"Passwort erforderlich", "Dieser Link ist geschützt. Geben Sie das Passwort ein." +
		" Wenn Sie es nicht kennen, fragen Sie die Person, von der Sie den Link haben.", "Das Passwort ist falsch. Versuchen Sie es noch einmal.",
		"Passwort", "Weiter", "Link öffnen", "Das Passwort stimmt. Dieser Link öffnet eine Anwendung:"},
	{"Mot de passe requis", "Ce lien est protégé. Saisissez le mot de passe pour continuer." +
		" Si vous ne le connaissez pas, demandez-le à la personne qui vous a donné le lien.", "Le mot de passe est incorrect. Réessayez.",
		"Mot de passe", "Continuer", "Ouvrir le lien", "Le mot de passe est correct. Ce lien ouvre une application :"},
	{"Contraseña necesaria", "Este enlace está protegido. Introduce la contraseña para continuar." +
		" Si no la sabes, pídesela a la persona que te dio el enlace.",
		"La contraseña no es correcta. Inténtalo de nuevo.", "Contraseña", "Continuar", "Abrir el enlace",
		"La contraseña es correcta. Este enlace abre una aplicación:"},
	{"パスワードが必要です", "このリンクは保護されています。続けるにはパスワードを入力してください。" +
		"わからない場合は、リンクを教えてくれた人に尋ねてください。", "パスワードが違います。もう一度お試しください。",
		"パスワード", "続ける", "リンクを開く", "パスワードを確認しました。このリンクはアプリを開きます:"},
	{"كلمة المرور مطلوبة", "هذا الرابط محمي. أدخل كلمة المرور للمتابعة." +
		" إن لم تكن تعرفها فاسأل من أعطاك الرابط.", "كلمة المرور خاطئة. حاول مرة أخرى.", "كلمة المرور", "متابعة",
		"فتح الرابط", "كلمة المرور صحيحة. يفتح هذا الرابط تطبيقًا:"},
}
