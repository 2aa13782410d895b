import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startSandbox } from '../../sandbox/server.ts'

async function start(mailReports?: { readonly url: string }) {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-dns-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const open = () => startSandbox({ folder, port: 0, smtpPort: 0, dnsPort: 0, ...(mailReports && { mailReports }) })
  let sandbox = await open()
  onTestFinished(() => sandbox.stop())
  const control = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${sandbox.origin}/_control/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return { status: answer.status, json: (await answer.json()) as Record<string, unknown> }
  }
  const resolver = () => {
    const made = new Resolver({ timeout: 1_000, tries: 1 })
    made.setServers([sandbox.dns!.address])
    return made
  }
  return {
    control,
    resolver,
    port: () => sandbox.dns!.port,
    async restart() {
      await sandbox.stop()
      sandbox = await open()
    },
  }
}

/** A question as RFC 1035 §4.1 writes it, byte by byte. */
function question(name: string, type: number): Buffer {
  const labels = name.split('.').map(label => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]))
  return Buffer.concat([Buffer.from([0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]), ...labels, Buffer.from([0, 0, type, 0, 1])])
}

const overUdp = (port: number, packet: Buffer) =>
  new Promise<Buffer>(resolve => {
    const socket = createSocket('udp4')
    socket.once('message', answer => {
      socket.close()
      resolve(answer)
    })
    socket.send(packet, port, '127.0.0.1')
  })

const overTcp = (port: number, packet: Buffer) =>
  new Promise<Buffer>(resolve => {
    const socket = connect(port, '127.0.0.1')
    let heard = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      heard = Buffer.concat([heard, chunk])
      if (heard.length < 2 || heard.length < 2 + heard.readUInt16BE(0)) return
      socket.destroy()
      resolve(heard.subarray(2))
    })
    const length = Buffer.alloc(2)
    length.writeUInt16BE(packet.length)
    // In two segments, as a network may deliver it.
    socket.write(Buffer.concat([length, packet.subarray(0, 5)]))
    setImmediate(() => socket.write(packet.subarray(5)))
  })

test('an authoritative server answers raw packets over UDP; a long answer is truncated there and complete over TCP; unknown names do not exist', async () => {
  const { control, port } = await start()
  await control('dns', { name: 'one.example.test', type: 'TXT', value: 'hello' })
  const answer = await overUdp(port(), question('ONE.example.test', 16))
  expect(answer.subarray(0, 2)).toEqual(Buffer.from([0x12, 0x34]))
  // QR and AA, RD as it was asked, no error; one question, one answer.
  expect([answer[2], answer[3]! & 0x0f, answer.readUInt16BE(4), answer.readUInt16BE(6)]).toEqual([0x85, 0, 1, 1])
  expect(answer.subarray(-6)).toEqual(Buffer.concat([Buffer.from([5]), Buffer.from('hello')]))
  expect((await overUdp(port(), question('none.example.test', 16)))[3]! & 0x0f).toBe(3)
  // A name that exists without such a record, or above an existing one: an empty answer without error.
  for (const [name, type] of [
    ['one.example.test', 1],
    ['example.test', 16],
  ] as const) {
    const empty = await overUdp(port(), question(name, type))
    expect([empty[3]! & 0x0f, empty.readUInt16BE(6)]).toEqual([0, 0])
  }
  await control('dns', { name: 'long.example.test', type: 'TXT', value: 'z'.repeat(700) })
  const cut = await overUdp(port(), question('long.example.test', 16))
  expect([cut[2]! & 2, cut.readUInt16BE(6), cut.length <= 512]).toEqual([2, 0, true])
  const whole = await overTcp(port(), question('long.example.test', 16))
  expect([whole[2]! & 2, whole.readUInt16BE(6), whole.toString('latin1').split('z').length - 1]).toEqual([0, 1, 700])
})

test('Node’s resolver finds records, long and multiple ones, and by an alias; they survive a restart until they are removed', async () => {
  const { control, resolver, restart } = await start()
  await control('dns', { name: 'key.example.test', type: 'TXT', value: 'k'.repeat(1_500) })
  await control('dns', { name: 'two.example.test', type: 'TXT', value: ['one', 'two'] })
  await control('dns', { name: 'alias.example.test', type: 'CNAME', value: 'two.example.test' })
  await restart()
  const found = async (name: string) => (await resolver().resolveTxt(name)).map(parts => parts.join(''))
  expect(await found('key.example.test')).toEqual(['k'.repeat(1_500)])
  expect(await found('two.example.test')).toEqual(['one', 'two'])
  expect(await found('alias.example.test')).toEqual(['one', 'two'])
  expect(await resolver().resolveCname('ALIAS.example.test')).toEqual(['two.example.test'])
  await control('dns', { name: 'two.example.test', type: 'TXT', value: null })
  await expect(resolver().resolveTxt('two.example.test')).rejects.toMatchObject({ code: 'ENOTFOUND' })
})

test('faults are spent by reads', async () => {
  const { control, resolver } = await start()
  await control('dns', { name: 'one.example.test', type: 'TXT', value: 'hello' })
  for (const [fault, code] of [
    [{ fault: 'status', status: 503 }, 'ESERVFAIL'],
    [{ fault: 'timeout-after-accept' }, 'ETIMEOUT'],
  ] as const) {
    await control('faults', { network: 'dns', times: 1, ...fault })
    await expect(resolver().resolveTxt('one.example.test')).rejects.toMatchObject({ code })
    expect(await resolver().resolveTxt('one.example.test')).toEqual([['hello']])
  }
})

test.each([
  { name: 'a b', type: 'TXT', value: 'x' },
  { name: 'a.test', type: 'A', value: '1.2.3.4' },
  { name: 'a.test', type: 'TXT', value: 7 },
  { type: 'TXT' },
])('a record such as %j is refused with a sentence', async record => {
  const { control } = await start()
  expect(await control('dns', record)).toMatchObject({ status: 400, json: { error: expect.any(String) } })
})

test('the mail server sends the requested report, signed, and returns the answer to it', async () => {
  const heard: { readonly body: string; readonly id: unknown; readonly signature: unknown }[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    heard.push({ body, id: request.headers['webhook-id'], signature: request.headers['webhook-signature'] })
    response.writeHead(heard.length === 1 ? 204 : 401).end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { control } = await start({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events` })
  const event = { network: 'smtp', event: 'bounce', messageId: '<m@example.test>', recipient: 'ada@example.test' }
  expect(await control('emit', event)).toEqual({ status: 200, json: { status: 204 } })
  expect(await control('emit', event)).toEqual({ status: 200, json: { status: 401 } })
  expect(JSON.parse(heard[0]!.body)).toMatchObject({ type: 'bounce', messageId: '<m@example.test>', recipient: 'ada@example.test', at: expect.any(String) })
  expect(heard[0]).toMatchObject({ id: expect.stringMatching(/^msg_/), signature: expect.stringMatching(/^v1,[\w+/]{43}=$/) })
  expect(await control('emit', { ...event, event: 'opened' })).toMatchObject({ status: 400 })
})
