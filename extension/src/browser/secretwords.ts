// Words by which pages name fields for passwords, payment cards and one-time codes, in many languages. They are matched
// against text in lower case without marks on its letters.

/** Why a field is sensitive. Acting on one asks the person, whatever else they have allowed. */
export type Sensitivity = 'password' | 'payment' | 'code' | 'secret';

const any = (...words: string[]) => new RegExp(words.join('|'));

const kinds: readonly (readonly [Sensitivity, RegExp])[] = [
  [
    'password',
    any(
      'passw(?:or[dt]|d)|\\bpwd\\b|passcode|passphrase|passwort|kennwort|kodeord|wachtwoord',
      'adgangskode|passord',
      'losenord|salasana|mot de passe|contrasena|palavra[- ]passe',
      '\\b(?:senha|haslo|heslo|sifre|jelszo)\\b|mat khau',
      'kata sandi|\\bparola(?! chiave)\\b|κωδικος προσβασης|парол|密码',
      '密碼|パスワード|暗証番号|비밀번호|암호|كلمة (?:المرور|السر)',
      'סיסמ[הא]|รหัสผ่าน|^pin$|\\b(?:your|enter|card|security) pin\\b',
    ),
  ],
  [
    'payment',
    any(
      '\\b(?:card|cc) ?(?:number|num|no)\\b|\\b(?:cvv|cvc|csc|ccv)2?\\b',
      '^(?:credit|debit|bank) card$|^(?:\\d{4} ){3}\\d{4}$|card (?:security|verif)',
      'card ?(?:expir|cvc|cvv)|\\b(?:mm|mois) ?/ ?(?:yy|jj|aa)|karten-?(?:nummer|prufnummer)',
      'prufziffer|kreditkarte',
      'numero d[aeio](?:lla)? ?(?:la )?(?:carte|carta|cartao|tarjeta)|kaartnummer',
      'kort(?:nummer|nummeret)|numer karty',
      'cislo karty|kart numarasi|номер карты|卡号|卡號|カード番号',
      '카드 ?번호|رقم البطاقة|cryptogramme|מספר כרטיס',
    ),
  ],
  [
    'code',
    any(
      '\\bone[- ]?time[- ](?:code|pass|pin)|\\b(?:totp|otp|2fa|mfa|tan)\\b|\\b\\d[- ]digit code',
      'einmal-?(?:code|passwort|kennwort)',
      '\\b(?:verification|authentication|authenticator|two[- ]factor|sms)[- ]code\\b',
      '\\b(?:security|recovery|backup|log-?in|sign-?in)[- ]code\\b',
      'bestatigungscode|verifizierungscode|sicherheits(?:code|nummer)',
      'code de (?:verification|securite)|code a \\d chiffres',
      'codigo de (?:verifica|segur|acceso|acesso)|codice di (?:verifica|sicurezza)',
      '(?:verificatie|veiligheids|beveiligings)code',
      'kod (?:weryfikacyjny|bezpieczenstwa)|dogrulama kodu',
      'код (?:подтверждения|безопасности|из смс)',
      'проверочный код',
      '验证码|驗證碼|安全码|(?:認証|確認|セキュリティ)コード',
      'ワンタイム|인증 ?(?:번호|코드)|보안 ?코드|رمز التحقق',
      'קוד אימות',
    ),
  ],
  [
    'secret',
    any(
      '\\b(?:client|app|shared) secret\\b|\\bapikey\\b',
      '\\b(?:secret|private|api|apikey|access|encryption|signing|recovery|master|licen[cs]e|ssh|wallet) ?key\\b',
      '\\b(?:seed|recovery|secret) phrase',
      '\\b(?:access|auth|bearer|refresh|api) token\\b',
    ),
  ],
];

// What is said about a secret is none: the name of a token, the hint for a password.
const about = /\b(?:name|label|description|hint|note|policy|length|strength|count|limit|lifetime|date)\b/;

/** What kind of secret a field is for, by the words that name it. */
export function secretIn(words: string): Sensitivity | undefined {
  const plain = words
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase()
    .replaceAll('ł', 'l');
  return about.test(plain) ? undefined : kinds.find(([, pattern]) => pattern.test(plain))?.[0];
}

/** The words of a name that is made for programs: userPassword, card_number. */
export const apart = (name: string): string =>
  name.replace(/([a-z])(?=[A-Z])/g, '$1 ').replace(/[^\p{L}\p{N}]+/gu, ' ');
