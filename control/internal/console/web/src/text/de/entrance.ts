import type { entrance as en } from '../en/entrance';
import type { Translation } from '../message';

export const entrance: Translation<typeof en> = {
  'signin.recovery': 'Wiederherstellungscode',
  'signin.recoveryHint': 'Jeder Ihrer Codes gilt einmal.',
  'signin.useRecovery': 'Wiederherstellungscode verwenden',
  'signin.useApp': 'Authenticator-App verwenden',
  'signin.locked': 'Zu viele Versuche.',
  'signin.wait': 'Sie können es {when} wieder versuchen.',
  'signin.noPasswords': 'Passwörter sind abgeschaltet. Melden Sie sich über einen Identitätsanbieter an.',
  'signin.other': 'Dieses Passkey gehört zu einem anderen Konto. Melden Sie sich als {email} an.',
  'signin.sso.failed':
    'Die Anmeldung über den Identitätsanbieter ist fehlgeschlagen. Versuchen Sie es noch einmal, oder fragen Sie einen Administrator.',
  'signin.sso.unavailable': 'Der Identitätsanbieter antwortet nicht. Versuchen Sie es gleich noch einmal.',
  'signin.sso.expired': 'Die Anmeldung hat zu lange gedauert oder in einem anderen Browser begonnen. Beginnen Sie neu.',
  'signin.sso.denied': 'Der Identitätsanbieter hat den Zugriff verweigert.',
  'signin.sso.noAccount': 'Sie haben hier kein Konto. Fragen Sie einen Administrator.',
  'signin.sso.unverified': 'Ihre E-Mail-Adresse ist beim Identitätsanbieter nicht bestätigt.',
  'signin.sso.domain': 'E-Mail-Adressen Ihrer Domain sind hier nicht erlaubt. Fragen Sie einen Administrator.',
  'signin.sso.link':
    'Noch ein Schritt, nur dieses Mal: Melden Sie sich mit Ihrem Passwort an, um das Konto des Identitätsanbieters mit Ihrem zu verknüpfen.',
  'signin.sso.inactive': 'Dieses Konto ist deaktiviert.',
  'forgot.hint':
    'Geben Sie Ihre E-Mail-Adresse ein. Wenn sie zu einem Konto gehört, erhalten Sie einen Link für ein neues Passwort.',
  'forgot.send': 'Link senden',
  'forgot.sent':
    'Wenn {email} zu einem Konto gehört, ist eine E-Mail unterwegs. Der Link darin gilt einmal, 30 Minuten lang.',
  'forgot.spam': 'Keine E-Mail? Sehen Sie im Spam-Ordner nach, oder fragen Sie einen Administrator.',
  'forgot.back': 'Zurück zur Anmeldung',
  'door.incomplete': 'Die Adresse ist unvollständig. Öffnen Sie den Link in der E-Mail noch einmal.',
  'reset.title': 'Neues Passwort wählen',
  'reset.hint': 'Alle Ihre Sitzungen enden, und Ihre API-Schlüssel werden gelöscht.',
  'reset.submit': 'Passwort setzen',
  'reset.done': 'Ihr Passwort ist geändert. Melden Sie sich jetzt damit an.',
  'reset.used': 'Dieser Link wurde schon benutzt oder ist abgelaufen.',
  'reset.again': 'Neuen Link anfordern',
  'invited.title': 'Sie sind eingeladen',
  'invited.new': 'Legen Sie ein Konto an, um dem Arbeitsbereich beizutreten.',
  'invited.create': 'Konto anlegen',
  'invited.have': 'Ich habe ein Konto',
  'invited.haveNot': 'Ich habe kein Konto',
  'invited.signIn': 'Melden Sie sich an, um die Einladung anzunehmen.',
  'invited.as': 'Sie sind als {email} angemeldet. Mit diesem Konto beitreten?',
  'invited.accept': 'Beitreten',
  'invited.other': 'Anderes Konto verwenden',
  'invited.console': 'Zur Konsole',
  'invited.joined': 'Sie sind dem Arbeitsbereich beigetreten.',
  'enrol.title': 'Zweiten Faktor einrichten',
  'enrol.hint': 'Ihre Administratoren verlangen einen. Danach geht es weiter.',
  'signin.astray':
    'Sie haben diese Seite unter {here} geöffnet. Dort lehnt der Server Änderungen ab. Verwenden Sie stattdessen diese Adresse:',
};
