// A look costs what it was allowed to cost, in whatever language the page is written.
import { openSite } from '../sites/own-pages.ts';
import { expect, test, visit } from '../stage/test.ts';
import { tokens } from '../stage/tokens.ts';

const sentences = {
  Arabic: 'يمكن للمستخدم تغيير كلمة المرور وعنوان البريد الإلكتروني في صفحة الإعدادات.',
  Chinese: '用户可以在设置页面中修改密码和邮箱地址。请先登录系统，然后点击右上角的头像图标。',
  English:
    'People change their password and their address on the page of settings, once they have signed in.',
  German: 'Das Kennwort und die E-Mail-Adresse können auf der Seite „Einstellungen“ geändert werden.',
  Hebrew: 'המשתמש יכול לשנות את הסיסמה ואת כתובת הדואר האלקטרוני בדף ההגדרות.',
  Hindi: 'उपयोगकर्ता सेटिंग पृष्ठ पर पासवर्ड और ईमेल पता बदल सकता है।',
  Japanese: 'ユーザーは設定ページでパスワードとメールアドレスを変更できます。まずログインしてください。',
  Korean: '사용자는 설정 페이지에서 비밀번호와 이메일 주소를 변경할 수 있습니다.',
  Polish: 'Hasło i adres e-mail można zmienić na stronie ustawień, gdy już się zalogujesz.',
  Russian: 'Пользователь может изменить пароль и адрес электронной почты на странице настроек.',
  Thai: 'ผู้ใช้สามารถเปลี่ยนรหัสผ่านและที่อยู่อีเมลได้ในหน้าการตั้งค่า โปรดเข้าสู่ระบบก่อน',
  Vietnamese: 'Người dùng có thể thay đổi mật khẩu và địa chỉ email trong trang cài đặt.',
  hashes: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822c 550e8400-e29b-41d4-a716-446655440000',
  signs: '✅ 12 → 34 · 👍 5 · ★★★☆☆ · 50 % ± 3 · €1,299.00 · ⚠️ 🚀🚀',
};

const page = (sentence: string): string => {
  const words = sentence.split(' ');
  const part = (n: number) => (words.length > 4 ? words.slice(n % 4).join(' ') : sentence.slice(n % 7));
  const items = Array.from(
    { length: 150 },
    (_, n) => `<p>${n}: ${sentence}</p><button>${part(n)}</button><a href="/${n}">${part(n + 1)}</a>`,
  );
  return `<!doctype html><title>${words[0]}</title><main>${items.join('')}</main>`;
};

for (const [name, sentence] of Object.entries(sentences)) {
  test(`a look at a page of ${name} costs what it may, and the next one goes on behind it`, async ({
    sharedStage: stage,
    closing,
  }) => {
    const site = await openSite(closing, { page: page(sentence) });
    await visit(stage, `${site}/page`);
    const look = async (args: Record<string, unknown>) =>
      (await stage.agent.call('browser__snapshot', { full: true, ...args })).text;
    for (const maxTokens of [400, 2000]) {
      const cost = tokens(await look({ maxTokens })) / maxTokens;
      expect(cost, `${maxTokens} tokens`).toBeGreaterThan(0.75);
      expect(cost, `${maxTokens} tokens`).toBeLessThan(1.25);
    }
    const numbers: number[] = [];
    for (let from: number | undefined = 0; from !== undefined; ) {
      const text = await look({ from, maxTokens: 3000 });
      numbers.push(...Array.from(text.matchAll(/^ *"(\d+): /gm), ([, n]) => Number(n)));
      const [, next] = /: from (\d+)$/.exec(text) ?? [];
      from = next === undefined ? undefined : Number(next);
    }
    expect(numbers).toEqual(Array.from({ length: 150 }, (_, n) => n));
  });
}

test('what a look may take in bytes holds beside its tokens', async ({ sharedStage: stage, closing }) => {
  const site = await openSite(closing, { page: page(sentences.Hindi.repeat(4)) });
  await visit(stage, `${site}/page`);
  const { text } = await stage.agent.call('browser__snapshot', { full: true, maxTokens: 50_000 });
  expect(text).toMatch(/: from \d+$/);
  expect(Buffer.byteLength(text)).toBeLessThan(34_000);
});
