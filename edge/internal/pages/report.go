package pages

import (
	"strings"

	"github.com/shortline/shortline/shared/abuse"
)

// ReportLater tells a program that the control plane did not take a report.
const ReportLater = "The report could not be sent. Try again in a few minutes."

// ReportForm is what the form for reports of a link shows.
type ReportForm struct {
	Slug     string
	Entered  abuse.Report    // what the visitor has entered
	Problems []abuse.Problem // of Entered
	Later    bool            // the control plane did not take the report
}

// reportValues are the values of the template for a ReportForm.
type reportValues struct {
	ReportForm
	Words             reportWords
	Wrong             map[string]string // problems by field
	Reasons           []string
	MaxText, MaxEmail int
}

// Report returns the page with the form for reports.
func (s *Set) Report(f ReportForm, l Language) Page {
	f.Entered.Text, f.Entered.Email = strings.ToValidUTF8(f.Entered.Text, "\uFFFD"), strings.ToValidUTF8(f.Entered.Email, "\uFFFD")
	v := &reportValues{ReportForm: f, Words: reportTexts[l], Wrong: map[string]string{}, Reasons: abuse.Reasons,
		MaxText: abuse.MaxText, MaxEmail: abuse.MaxEmail}
	for _, p := range f.Problems {
		v.Wrong[p.Field] = v.Words.Wrong[p.Field]
	}
	return s.render(reportTemplate, values{Heading: v.Words.Heading, Report: v}, l, s.reportPolicy)
}

// ReportSent returns the page that thanks a visitor for a report.
func (s *Set) ReportSent(l Language) Page {
	words := &reportTexts[l]
	return s.notify(notice{words.Thanks, words.Received, words.Close}, l)
}

var reportTemplate = withLayout(`{{template "top" .}}{{with .Report}}<p>{{.Words.Hint}} <bdi dir="ltr">/{{.Slug}}</bdi></p>
{{if or .Later .Problems}}<p class="bad" role="alert">{{if .Later}}{{.Words.Later}}{{else}}{{.Words.NotSent}}{{end}}</p>{{end}}<form method="post" action="/{{.Slug}}/report">
<label for="reason">{{.Words.Reason}}</label><select id="reason" name="reason" required{{if .Wrong.reason}} aria-invalid="true" aria-describedby="r"{{end}}>
<option value="">{{.Words.Choose}}</option>{{range .Reasons}}<option value="{{.}}"{{if eq . $.Report.Entered.Reason}} selected{{end}}>{{index $.Report.Words.Reasons .}}</option>{{end}}</select>
{{with .Wrong.reason}}<p class="bad wrong" id="r">{{.}}</p>{{end}}
<label for="text">{{.Words.Details}}</label><textarea id="text" name="text" rows="4" dir="auto" maxlength="{{.MaxText}}"{{if .Wrong.text}} aria-invalid="true" aria-describedby="t"{{end}}>{{.Entered.Text}}</textarea>
{{with .Wrong.text}}<p class="bad wrong" id="t">{{.}}</p>{{end}}
<label for="email">{{.Words.Email}}</label><input id="email" name="email" type="email" maxlength="{{.MaxEmail}}" autocomplete="email" dir="ltr" value="{{.Entered.Email}}"{{if .Wrong.email}} aria-invalid="true" aria-describedby="e"{{end}}>
{{with .Wrong.email}}<p class="bad wrong" id="e">{{.}}</p>{{end}}<button type="submit">{{.Words.Send}}</button></form>{{end}}{{template "end" .}}`)

// reportWords are the texts of the form with which visitors report a link, in one language.
type reportWords struct {
	Heading, Hint, Reason, Choose, Details, Email, Send string
	Thanks, Received, Close                             string
	NotSent, Later                                      string            // why the report was not sent
	Reasons                                             map[string]string // by abuse.Reasons
	Wrong                                               map[string]string // problems by field
}

// reasons maps abuse.Reasons to what the form shows, in their order.
func reasons(phishing, malware, spam, illegal, other string) map[string]string {
	return map[string]string{"PHISHING": phishing, "MALWARE": malware, "SPAM": spam, "ILLEGAL": illegal, "OTHER": other}
}

// problems maps fields of the form to what is wrong with them.
func problems(reason, text, email string) map[string]string {
	return map[string]string{"reason": reason, "text": text, "email": email}
}

var reportTexts = [len(languages)]reportWords{
	{"Report this link", "Tell the operator of this service what is wrong with this link:", "What is wrong?", "Choose a reason",
		"Details (optional)", "Your e-mail address (optional)", "Send the report",
		"Thank you", "The report was received. The operator of this service will look at the link.", "You can close this page.",
		"The report was not sent.", ReportLater,
		reasons("It asks for passwords or other secrets", "It spreads malware", "It is spam", "Its content is illegal", "Something else"),
		problems("Choose a reason.", "Use at most 1,000 characters of plain text.", "This is not an e-mail address.")},
	{"Diesen Link melden", "Sagen Sie dem Betreiber dieses Dienstes, was mit diesem Link nicht stimmt:", "Was stimmt nicht?",
		"Grund auswählen", "Einzelheiten (freiwillig)", "Ihre E-Mail-Adresse (freiwillig)", "Meldung absenden",
		"Vielen Dank", "Die Meldung ist angekommen. Der Betreiber dieses Dienstes sieht sich den Link an.", "Sie können diese Seite schließen.",
		"Die Meldung wurde nicht gesendet.", "Die Meldung konnte nicht gesendet werden. Versuchen Sie es in einigen Minuten noch einmal.",
		reasons("Er fragt nach Passwörtern oder anderen Geheimnissen", "Er verbreitet Schadsoftware", "Er ist Spam",
			"Sein Inhalt ist verboten", "Etwas anderes"),
		problems("Wählen Sie einen Grund.", "Höchstens 1.000 Zeichen reiner Text.", "Das ist keine E-Mail-Adresse.")},
	{"Signaler ce lien", "Dites à l’exploitant de ce service ce qui ne va pas avec ce lien :", "Qu’est-ce qui ne va pas ?",
		"Choisir un motif", "Détails (facultatif)", "Votre adresse e-mail (facultatif)", "Envoyer le signalement",
		"Merci", "Le signalement a été reçu. L’exploitant de ce service va examiner le lien.", "Vous pouvez fermer cette page.",
		"Le signalement n’a pas été envoyé.", "Le signalement n’a pas pu être envoyé. Réessayez dans quelques minutes.",
		reasons("Il demande des mots de passe ou d’autres secrets", "Il diffuse des logiciels malveillants", "C’est du spam",
			"Son contenu est illégal", "Autre chose"),
		problems("Choisissez un motif.", "Au plus 1 000 caractères de texte brut.", "Ce n’est pas une adresse e-mail.")},
	{"Denunciar este enlace", "Di al operador de este servicio qué ocurre con este enlace:", "¿Qué ocurre?", "Elige un motivo",
		"Detalles (opcional)", "Tu dirección de correo (opcional)", "Enviar la denuncia",
		"Gracias", "La denuncia se ha recibido. El operador de este servicio revisará el enlace.", "Puedes cerrar esta página.",
		"La denuncia no se ha enviado.", "No se ha podido enviar la denuncia. Inténtalo dentro de unos minutos.",
		reasons("Pide contraseñas u otros secretos", "Difunde software malicioso", "Es spam", "Su contenido es ilegal", "Otra cosa"),
		problems("Elige un motivo.", "Usa como máximo 1.000 caracteres de texto sin formato.", "Esto no es una dirección de correo.")},
	{"このリンクを報告", "このリンクの問題をサービスの運営者に知らせます:", "何が問題ですか?", "理由を選択", "詳細 (任意)", "メールアドレス (任意)", "報告を送信",
		"ありがとうございます", "報告を受け取りました。サービスの運営者がリンクを確認します。", "このページは閉じてかまいません。",
		"報告は送信されませんでした。", "報告を送信できませんでした。数分後にもう一度お試しください。",
		reasons("パスワードなどの秘密情報を求めている", "マルウェアを広めている", "スパムである", "内容が違法である", "その他"),
		problems("理由を選択してください。", "1,000 文字以内のプレーンテキストで入力してください。", "メールアドレスではありません。")},
	{"الإبلاغ عن هذا الرابط", "أخبر مشغل هذه الخدمة بما هو خطأ في هذا الرابط:", "ما الخطأ؟", "اختر سببًا", "التفاصيل (اختياري)",
		"عنوان بريدك الإلكتروني (اختياري)", "إرسال البلاغ",
		"شكرًا", "وصل البلاغ. سينظر مشغل هذه الخدمة في الرابط.", "يمكنك إغلاق هذه الصفحة.",
		"لم يُرسل البلاغ.", "تعذر إرسال البلاغ. حاول بعد بضع دقائق.",
		reasons("يطلب كلمات مرور أو أسرارًا أخرى", "ينشر برامج ضارة", "رسائل مزعجة", "محتواه غير قانوني", "شيء آخر"),
		problems("اختر سببًا.", "استخدم 1000 حرف من النص العادي على الأكثر.", "هذا ليس عنوان بريد إلكتروني.")},
}
