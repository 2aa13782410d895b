import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { mostAttached, readAttachments } from '../../../../subgraphs/providers/email/message/attachments.ts'
import { refusalOf } from '../../../rules/refusal.ts'
import { answering, rawServer } from '../../identity/mail/sending.ts'
import { sendingWorld, twins } from './sending.ts'

const base64 = (content: string | Buffer) => Buffer.from(content).toString('base64')
const invoice = { name: 'INV-000001.pdf', contentType: 'application/pdf', content: base64('%PDF-1.7 of these tests') }
const kept = 'select name, content_type, content from providers.email_attachments order by place'

describe('a mail with attachments', () => {
  it('carries them in their order, under their names, and forgets them once it has left', async () => {
    const { server, received } = await twins()
    const world = await sendingWorld(server)
    const picture = { name: 'Übersicht.png', contentType: 'image/PNG', content: base64(randomBytes(3_000)) }
    await world.send({ attachments: [invoice, picture], html: '<p>Hello.</p>' })
    const before = await world.graph.rows<{ name: string; content: string }>(kept)
    expect(before.map(({ name }) => name)).toEqual([invoice.name, picture.name])
    expect(JSON.stringify(before)).not.toContain(invoice.content)
    await world.tryAll()
    const [mail] = await received()
    expect(mail).toMatchObject({
      text: expect.stringContaining('Hello.'),
      attachments: [
        { name: invoice.name, contentType: 'application/pdf', bytes: 23 },
        { name: picture.name, contentType: 'image/png', bytes: 3_000 },
      ],
    })
    expect(await world.graph.rows(kept)).toEqual([])
  })

  it('may have ten million bytes in all, and arrives in correct format', async () => {
    const { server, received } = await twins()
    const world = await sendingWorld(server)
    const half = { name: 'half.bin', contentType: 'application/octet-stream', content: base64(Buffer.alloc(mostAttached.bytes / 2, 7)) }
    await world.send({ attachments: [half, { ...half, name: 'other half.bin' }] })
    await world.tryAll()
    expect((await received())[0]!.attachments.map(({ bytes }) => bytes)).toEqual([mostAttached.bytes / 2, mostAttached.bytes / 2])
    const refused = await world.trySend({ attachments: [half, half, { ...invoice, content: base64('x') }] })
    expect(refused.refused('BAD_USER_INPUT').extensions.field).toBe('attachments')
  })

  it('keeps them while it waits, no longer than it may be sent', async () => {
    const world = await sendingWorld(await rawServer(socket => answering(socket, { message: '451 4.3.0 Later' })))
    const { id } = await world.send({ attachments: [invoice] })
    for (const wait of [5_000, 30_000, 300_000, 1_800_000, 7_200_000]) {
      await world.tryAll()
      expect(await world.graph.rows(kept)).toHaveLength(1)
      await world.graph.clock.advance(wait)
    }
    await world.tryAll()
    expect([await world.read(id), await world.graph.rows(kept)]).toMatchObject([{ status: 'FAILED' }, []])
  })

  it('differs from one with other attachments under the same key', async () => {
    const world = await sendingWorld(null)
    const { id } = await world.send({ idempotencyKey: 'k', attachments: [invoice] })
    expect((await world.send({ idempotencyKey: 'k', attachments: [invoice] })).id).toBe(id)
    expect(await world.graph.rows(kept)).toHaveLength(1)
    ;(await world.trySend({ idempotencyKey: 'k', attachments: [{ ...invoice, content: base64('Another') }] })).refused('CONFLICT')
  })

  it('leaves nothing when it is removed', async () => {
    const world = await sendingWorld(null)
    const { id } = await world.send({ attachments: [invoice] })
    await world.graph.rows('delete from providers.email_messages where id = $1', [id])
    expect(await world.graph.rows(kept)).toEqual([])
  })
})

describe('readAttachments', () => {
  const refused = (more: object, at = 0) => refusalOf(() => readAttachments([...Array(at).fill(invoice), { ...invoice, ...more }])).extensions

  it('reads nothing as nothing', () => {
    expect([readAttachments(null), readAttachments(undefined), readAttachments([])]).toEqual([[], [], []])
  })

  it.each([
    ['a path', { name: '../passwd' }, 'name'],
    ['a path of Windows', { name: 'C:\\x.pdf' }, 'name'],
    ['a name that writes backwards', { name: 'fdp\u202eexe.' }, 'name'],
    ['a name with a line break', { name: 'a\r\nBcc: b@example.com' }, 'name'],
    ['no name', { name: '  ' }, 'name'],
    ['a name that is too long', { name: 'x'.repeat(201) }, 'name'],
    ['no type', { contentType: 'pdf' }, 'contentType'],
    ['a type with a parameter', { contentType: 'text/html; charset=utf-8' }, 'contentType'],
    ['a mail as its type', { contentType: 'message/rfc822' }, 'contentType'],
    ['several parts as its type', { contentType: 'multipart/mixed' }, 'contentType'],
    ['nothing in it', { content: '' }, 'content'],
    ['what is no base64', { content: 'no base64!' }, 'content'],
    ['base64 on several lines', { content: 'QUJD\r\nQUJD' }, 'content'],
    ['base64 without its padding', { content: 'QUI' }, 'content'],
    ['base64 of another alphabet', { content: 'QUI_' }, 'content'],
  ])('refuses %s, naming the field', (_, more, field) => {
    expect(refused(more, 1)).toMatchObject({ code: 'BAD_USER_INPUT', field: `attachments[1].${field}` })
  })

  it('refuses more than twenty', () => {
    expect(refused({}, mostAttached.count)).toMatchObject({ code: 'BAD_USER_INPUT', field: 'attachments' })
  })
})
