import { execFile, execFileSync } from 'node:child_process'
import { promisify } from 'node:util'
import PostalMime from 'postal-mime'
import { describe, expect, it } from 'vitest'
import { type Composition, compose } from '../../../../subgraphs/identity/mail/compose.ts'
import { isLinked, linked, type MailData, type MailKind, type NoticeOf } from '../../../../subgraphs/identity/mail/kinds.ts'

const code = 'AZaz09-_'.repeat(6).slice(0, 43)
const origin = 'https://platform.test'
const sender = { name: 'Plätform, Inc.', address: 'no-reply@platform.test' }
const notices: readonly NoticeOf[] = ['password-changed', 'password-reset', 'email-changed', 'recovery-verified', 'recovery-removed']

const person = { name: 'Zoë Ångström', account: 'zoe@acme.test' }
const data: { readonly [Kind in MailKind]: MailData[Kind] } = {
  'verify-email': person,
  'already-registered': person,
  'reset-password': person,
  invitation: { organization: 'Acmé & Söhne <GmbH>', invitedBy: 'Zoë "Z" Ångström', roles: ['ADMIN', 'MEMBER'] },
  'verify-recovery-email': person,
  'confirm-email': person,
  notice: { ...person, what: 'password-changed' },
}
const kinds = Object.keys(data) as MailKind[]

const write = (kind: MailKind, changes: Partial<Composition> = {}) =>
  compose(origin, sender, {
    kind,
    recipient: 'ada@acme.test',
    data: data[kind],
    messageId: '<1@platform.test>',
    createdAt: new Date('2027-03-01T09:00:00.000Z'),
    code: isLinked(kind) ? code : null,
    codeEndsAt: isLinked(kind) ? new Date('2027-03-02T09:00:00.000Z') : null,
    ...changes,
  })

const words = (text: string) => text.replaceAll(/\s+/g, ' ').trim()
/** What a reader sees of HTML: its text, and of a link where it leads. */
const seen = (html: string) =>
  words(
    html
      .replace(/<head>.*<\/head>/s, '')
      .replaceAll(/<a href="([^"]*)">(.*?)<\/a>/g, '$2: $1')
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&quot;', '"')
      .replaceAll('&#39;', "'")
      .replaceAll('&amp;', '&'),
  )

describe.each(kinds)('a mail %s, as a mail program shows it', kind => {
  it('has the same content as text and HTML, with its kind, sender and recipient', async () => {
    const raw = await write(kind)
    const mail = await PostalMime.parse(raw)
    expect(seen(mail.html!)).toBe(words(mail.text!))
    expect(mail.from).toEqual({ name: sender.name, address: sender.address })
    expect(mail.to).toEqual([{ name: '', address: 'ada@acme.test' }])
    expect(mail.messageId).toBe('<1@platform.test>')
    expect(mail.subject).toMatch(/\w/)
    expect(mail.headers.find(({ key }) => key === 'x-supergraph-mail')?.value).toBe(kind)
    // RFC 5322 §2.1.1 and RFC 2045: short lines of ASCII, whatever the names are.
    for (const line of raw.toString('latin1').split('\r\n')) expect(line).toMatch(/^[\x20-\x7e\t]{0,998}$/)
    expect(raw.toString('latin1').replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
  })

  it('contains one link to its page, and those without a code contain none', async () => {
    const mail = await PostalMime.parse(await write(kind))
    const links = (text: string) => text.match(/https?:\/\/[^\s"<]+/g) ?? []
    const wanted = isLinked(kind) ? [`${origin}/identity/${linked[kind].page}?code=${code}`] : []
    expect([links(mail.text!), links(mail.html!)]).toEqual([wanted, wanted])
    if (isLinked(kind)) expect(mail.text).toContain('until 2 March 2027, 09:00 UTC')
  })

  it('is one mail to one recipient whatever a name contains, and no name becomes a link', async () => {
    const evil = `Eve\r\nBcc: all@acme.test\r\n\r\n<script>alert(1)</script> https://evil.test/x www.evil.test \u202e \u0000 ${'long '.repeat(200)}`
    const raw = await write(kind, { data: { ...data[kind], name: evil, organization: evil, invitedBy: evil } })
    const mail = await PostalMime.parse(raw)
    expect(mail.headers.map(({ key }) => key)).not.toContain('bcc')
    expect(mail.to).toHaveLength(1)
    expect(mail.html).not.toContain('<script')
    expect(mail.text!.match(/https?:\/\//g) ?? []).toHaveLength(isLinked(kind) ? 1 : 0)
    expect(mail.text).not.toMatch(/evil\.test|\u202e/)
    expect(mail.text).not.toContain('\u0000')
    expect(mail.text!.length).toBeLessThan(1_600)
    expect(mail.subject!.length).toBeLessThan(260)
  })
})

it('a notice of each event says what happened, and when', async () => {
  const subjects = await Promise.all(
    notices.map(async what => {
      const mail = await PostalMime.parse(await write('notice', { data: { name: 'Ada', what } }))
      expect(mail.text).toContain('1 March 2027, 09:00 UTC')
      return mail.subject
    }),
  )
  expect(new Set(subjects).size).toBe(notices.length)
})

it('a mail to a non-ASCII address keeps the address', async () => {
  const mail = await PostalMime.parse(await write('notice', { recipient: 'zoë@acmé.test' }))
  expect(mail.to?.[0]?.address).toMatch(/^zoë@(?:acmé|xn--acm-dma)\.test$/)
})

const python = (() => {
  try {
    execFileSync('python3', ['-c', 'import email.policy'])
    return true
  } catch {
    return false
  }
})()

it.skipIf(!python)('python3 email parses each mail as we do', async () => {
  const script = `
import email, email.policy, json, sys
mail = email.message_from_bytes(sys.stdin.buffer.read(), policy=email.policy.default)
assert not mail.defects and all(not part.defects for part in mail.walk()), 'defects'
print(json.dumps({'subject': mail['subject'], 'to': mail['to'], 'from': mail['from'].addresses[0].display_name, 'text': mail.get_body(('plain',)).get_content(), 'html': mail.get_body(('html',)).get_content()}))
`
  for (const kind of kinds) {
    const raw = await write(kind)
    const running = promisify(execFile)('python3', ['-c', script], { encoding: 'utf8' })
    running.child.stdin!.end(raw)
    const read = JSON.parse((await running).stdout) as Record<'subject' | 'to' | 'from' | 'text' | 'html', string>
    const ours = await PostalMime.parse(raw)
    expect([read.subject, read.to, read.from]).toEqual([ours.subject, 'ada@acme.test', sender.name])
    expect([words(read.text), words(read.html)]).toEqual([words(ours.text!), words(ours.html!)])
  }
})
