import { spawnSync } from 'node:child_process'
import type { AddressInfo } from 'node:net'
import tls from 'node:tls'
import { SMTPServer } from 'smtp-server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openSending } from './sending.ts'

/** A key and the certificate that it signed for itself, in one text; null without openssl. */
function selfSigned(): string | null {
  const options =
    '-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout - -out - -days 1 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1'
  const made = spawnSync('openssl', ['req', ...options.split(' ')], { encoding: 'utf8' })
  return made.status === 0 ? made.stdout : null
}

const pem = selfSigned()

/** A mail server that speaks TLS from the first byte on, or offers STARTTLS. */
async function server(secure: boolean) {
  const mails: { secure: boolean; user: unknown }[] = []
  const listening = new SMTPServer({
    secure,
    key: pem!,
    cert: pem!,
    logger: false,
    disableReverseLookup: true,
    onAuth: ({ username }, _session, done) => done(null, { user: username }),
    onData(stream, session, done) {
      stream.resume()
      stream.once('end', () => {
        mails.push({ secure: session.secure, user: session.user })
        done()
      })
    },
  })
  listening.on('error', () => {})
  await new Promise<void>(resolve => listening.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise<void>(resolve => listening.close(() => resolve())))
  const { port } = listening.server.address() as AddressInfo
  return { mails, address: { host: '127.0.0.1', port, secure, auth: { user: 'me', pass: 'secret-of-mine' } } }
}

const notice = { kind: 'notice', to: 'ada@acme.test', data: { name: 'Ada', what: 'password-changed' } } as const

describe.skipIf(pem === null).each([
  ['from the first byte on', true],
  ['by STARTTLS where it is offered', false],
])('TLS %s', (_, secure) => {
  it('works with a server whose certificate is trusted', async () => {
    const former = tls.getCACertificates('default')
    tls.setDefaultCACertificates([...former, pem!.slice(pem!.indexOf('-----BEGIN CERTIFICATE'))])
    onTestFinished(() => tls.setDefaultCACertificates(former))
    const { mails, address } = await server(secure)
    const sending = await openSending(address)
    await sending.send(notice)
    await sending.tryAll()
    expect(mails).toEqual([{ secure: true, user: 'me' }])
  })

  it('ends before any content or password with an untrusted certificate', async () => {
    const { mails, address } = await server(secure)
    const sending = await openSending(address)
    await sending.send(notice)
    await sending.tryAll()
    expect(mails).toEqual([])
    expect(await sending.rows()).toMatchObject([{ outcome: null, failures: 1 }])
    expect(sending.log.join('')).not.toContain('secret-of-mine')
  })
})
