// A relay as small as it can be, for tests of the extension in a real browser: it greets, sends calls and remembers
// what came back.
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { patienceMs } from './patience.ts';

export interface Frame extends Record<string, unknown> {
  type: string;
}

const isFrame = (value: unknown): value is Frame =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

interface Waiter {
  test(frame: Frame): boolean;
  resolve(got: { frame: Frame; payload: string }): void;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const isOfAdapter = ({ path }: Frame): boolean => String(path).startsWith('/api/v1/extension/adapters/');

export class TestRelay {
  readonly secret = randomBytes(32).toString('hex');
  readonly got: { frame: Frame; payload: string }[] = [];
  autoAck = true;
  bundle = '';
  protocol = 2;
  code = ''; // a one-time string that is good now
  sendWrongProof = false;
  plugins: readonly object[] = [];
  readonly scripts = new Map<string, string>(); // by path: code of plugins; other requests are the test's to answer
  connections = 0;
  socket: WebSocket | undefined;
  readonly #server: Server;
  readonly #sockets: WebSocketServer;
  readonly #waiters = new Set<Waiter>();

  constructor(readonly extensionId: string) {
    this.#server = createServer((_request, response) => response.writeHead(404).end());
    this.#sockets = new WebSocketServer({ noServer: true, maxPayload: 16 << 20 });
    this.#server.on('upgrade', (request, stream, head) => {
      if (request.headers.origin !== `chrome-extension://${extensionId}`) return stream.destroy();
      this.#sockets.handleUpgrade(request, stream, head, (socket) => this.#converse(socket));
    });
  }

  async listen(port = 0): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
  }

  get port(): number {
    const address: AddressInfo | string | null = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  get pairing(): string {
    return JSON.stringify({ address: `127.0.0.1:${this.port}`, secret: this.secret });
  }

  close(): void {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#server.close();
  }

  send(header: object, payload?: string): void {
    const text = JSON.stringify(header);
    this.socket?.send(payload === undefined ? text : `${text}\n${payload}`);
  }

  /** The next frame, or one that came already since `from`, that passes the test. */
  wait(test: (frame: Frame) => boolean, from = this.got.length) {
    for (const one of this.got.slice(from)) if (test(one.frame)) return Promise.resolve(one);
    return new Promise<{ frame: Frame; payload: string }>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no such frame: ${test}`)), patienceMs);
      timer.unref(); // not every call that is watched starts
      this.#waiters.add({
        test,
        resolve: (got) => {
          clearTimeout(timer);
          resolve(got);
        },
      });
    });
  }

  #converse(socket: WebSocket): void {
    let hello = '';
    let nonce = '';
    let relay = '';
    let pairs = false;
    socket.on('message', (data) => {
      const text = data.toString();
      const end = text.indexOf('\n');
      const frame: unknown = JSON.parse(end < 0 ? text : text.slice(0, end));
      if (!isFrame(frame)) return;
      if (frame.type === 'hello') {
        hello = text;
        nonce = randomBytes(32).toString('hex');
        pairs = frame.pair === true;
        relay = JSON.stringify({ type: 'relay', protocol: this.protocol, relay: '0.0.0-test', nonce });
        socket.send(relay);
        const proof = pairs
          ? this.#proof('pairing relay', hello, relay, nonce, this.code)
          : this.#proof('relay', hello, relay, nonce);
        socket.send(JSON.stringify({ type: 'proof', proof: this.sendWrongProof ? '0'.repeat(64) : proof }));
      } else if (frame.type === 'proof' && pairs) {
        const right = this.#proof('pairing extension', hello, relay, nonce, this.code) === frame.proof;
        if (right) socket.send(JSON.stringify({ type: 'paired', secret: this.#seal(hello, relay, nonce) }));
        else
          socket.send(JSON.stringify({ type: 'refuse', code: 'PAIRING_FAILED', message: 'Not the string' }));
        socket.close(right ? 1000 : 4401);
      } else if (frame.type === 'proof') {
        this.socket = socket;
        this.connections++;
        const limits = { frameBytes: 16 << 20, resultBytes: 10 << 20, storedOutcomeBytes: 65536 };
        const bundle = this.bundle || JSON.parse(hello).bundle;
        this.send({ type: 'welcome', bundle, pingMs: 20_000, limits, gapMs: 5000 });
        this.send({ type: 'plugins', plugins: this.plugins });
      } else if (frame.type === 'request' && isOfAdapter(frame)) this.#answer(frame);
      else if (frame.type === 'ping') socket.send('{"type":"pong"}');
      else if (frame.type === 'outcome' && this.autoAck) this.send({ type: 'ack', ids: [frame.id] });
      this.#note({ frame, payload: end < 0 ? '' : text.slice(end + 1) });
    });
  }

  #answer({ id, path }: Frame): void {
    const code = this.scripts.get(String(path));
    const missing = { error: { code: 'RESOURCE_NOT_FOUND', message: 'There is none' } };
    const status = code === undefined ? 404 : 200;
    this.send({ type: 'response', id, status }, JSON.stringify(code === undefined ? missing : { code }));
  }

  #note(got: { frame: Frame; payload: string }): void {
    this.got.push(got);
    for (const waiter of this.#waiters) {
      if (!waiter.test(got.frame)) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(got);
    }
  }

  #seal(hello: string, relay: string, nonce: string): string {
    const known = Buffer.from(this.secret, 'hex');
    const pad = Buffer.from(this.#proof('pairing secret', hello, relay, nonce, this.code), 'hex');
    return Buffer.from(known.map((value, i) => value ^ (pad[i] ?? 0))).toString('hex');
  }

  #proof(role: string, hello: string, relay: string, nonce: string, key = this.secret): string {
    const said: unknown = JSON.parse(hello);
    if (!isFrame(said)) throw new Error('not a hello');
    const { profile, nonce: extensionNonce } = said;
    const profileId = typeof profile === 'object' && profile !== null && 'id' in profile ? profile.id : '';
    const transcript = [
      'tabrelay.v1',
      role,
      String(this.protocol),
      `127.0.0.1:${this.port}`,
      this.extensionId,
      profileId,
      extensionNonce,
      nonce,
      sha256(`${hello}\n${relay}`),
    ].join('\n');
    return createHmac('sha256', Buffer.from(key, 'hex')).update(transcript).digest('hex');
  }
}
