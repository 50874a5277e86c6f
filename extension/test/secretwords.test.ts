import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apart, secretIn } from '../src/browser/secretwords.ts';

const named: Record<string, readonly string[]> = {
  password: [
    'Password *',
    'Passwort',
    'Mot de passe',
    'Contraseña',
    'Hasło',
    'Пароль',
    '密码',
    'パスワード',
    'PIN',
  ],
  payment: [
    'Card number',
    'CVC',
    'Kartenprüfnummer',
    'Número do cartão',
    'Numéro de carte',
    'MM / YY',
    '银行卡号',
  ],
  code: [
    'Verification code',
    'Enter the 6-digit code',
    'Código de verificación',
    '認証コード',
    '验证码',
    'SMS-Code',
  ],
  secret: ['API key', 'Client secret', 'Seed phrase', 'Personal access token'],
  none: [
    'Card',
    'Promo code',
    'Country code',
    'Pinned note',
    'Business card text',
    'Max tokens',
    'Name on card',
    'Token name',
    'Password policy',
    'Passport country',
    'Parola chiave',
    'Compass',
    'Source code',
  ],
};

test('fields for secrets are known by the words that name them, in many languages', () => {
  for (const [kind, all] of Object.entries(named))
    for (const words of all) assert.equal(secretIn(words) ?? 'none', kind, words);
});

test('names for programs are read as words', () => {
  for (const name of ['cardNumber', 'card_number', 'cc-num', 'payment.cardNo'])
    assert.equal(secretIn(apart(name)), 'payment', name);
  assert.equal(secretIn(apart('userPwd')), 'password');
  assert.equal(secretIn(apart('discard_numbers')), undefined);
});
