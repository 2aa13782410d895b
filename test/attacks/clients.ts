import { createHash } from 'node:crypto'
import { dial } from '../kit/bare-socket.ts'
import { createAsker, follow, forms } from '../kit/follower.ts'
import { frame, post, pour, reach, until, upgrade, type Wire } from './wire.ts'

/** What is attacked, and with what. */
export interface Scene {
  readonly url: string
  readonly port: number
  /** A key of the attacker's own. */
  readonly key: string
  readonly brandId: string
  readonly postId: string
}

/** Something that a client does to others. */
export interface Attack {
  readonly name: string
  /** Goes on until a moment, then leaves. @returns what became of it */
  run(scene: Scene, overAt: number): Promise<string>
  /** Megabytes that may be held afterwards, for what is remembered of it within a bound. @default 24 */
  readonly keeps?: number
}

/** An address of the attackers. */
const address = (number: number) => `127.1.${Math.floor(number / 250)}.${1 + (number % 250)}`
const times = <Made>(count: number, make: (at: number) => Made): Made[] => Array.from({ length: count }, (_, at) => make(at))
const left = (overAt: number) => performance.now() < overAt
const turn = () => new Promise(resolve => setImmediate(resolve))

/** A query with an answer of about 200 kB. */
const large = `{ ${times(20, at => `a${at}: posts(first: 30) { nodes { id copy status brand { name } } }`).join(' ')} }`
const ownEvents = ({ brandId }: Scene, more = 'id') => `subscription { postStatusChanged(brandId: "${brandId}") { ${more} } }`
const changing = 'mutation($input: UpdatePostInput!) { updatePost(input: $input) { id } }'

/** Has something happen, over and over. */
async function change({ url, key, postId }: Scene, overAt: number, everyMs: number): Promise<number> {
  const asker = createAsker({ url, key, from: address(1) })
  let made = 0
  for (; left(overAt); await until(performance.now() + everyMs)) {
    await asker.ask(changing, { input: { id: postId, copy: `${'"'.repeat(240)}${made}` } })
    made += 1
  }
  asker.close()
  return made
}

/** A WebSocket by hand that has introduced itself. */
async function introduced({ port, key }: Scene, from: string, reads = true): Promise<Wire> {
  const wire = await reach({ port, from, reads })
  wire.socket.write(upgrade(port))
  wire.socket.write(frame(JSON.stringify({ type: 'connection_init', payload: { 'x-api-key': key } })))
  return wire
}

export const attacks: readonly Attack[] = [
  {
    name: 'WebSockets that ask much and read nothing',
    async run(scene, overAt) {
      const wires = await Promise.all(times(6, () => introduced(scene, address(0), false)))
      await until(performance.now() + 300)
      for (let id = 0; left(overAt); id += 1) {
        const asked = frame(JSON.stringify({ id: String(id), type: 'subscribe', payload: { query: large } }))
        for (const wire of wires) if (wire.isOpen && wire.socket.writableLength < 100_000) wire.socket.write(asked)
        await until(performance.now() + 20)
      }
      // Cut connections are noticed only by clients that read.
      for (const { socket } of wires) socket.resume()
      await until(performance.now() + 300)
      const cut = wires.filter(({ isOpen }) => !isOpen).length
      for (const wire of wires) wire.leave()
      return `${cut} of 6 cut`
    },
  },
  {
    name: 'SSE and multipart streams that nobody reads',
    async run(scene, overAt) {
      const query = ownEvents(scene, times(100, at => `a${at}: copy`).join(' '))
      const accepts = ['text/event-stream', 'multipart/mixed;subscriptionSpec="1.0", application/json']
      const wires = await Promise.all(times(30, () => reach({ port: scene.port, from: address(2), reads: false })))
      for (const [at, { socket }] of wires.entries())
        socket.write(post(scene.port, JSON.stringify({ query }), { accept: accepts[at % 2]!, 'x-api-key': scene.key }))
      const told = await change(scene, overAt, 5)
      for (const { socket } of wires) socket.resume()
      await until(performance.now() + 300)
      const cut = wires.filter(({ isOpen }) => !isOpen).length
      for (const wire of wires) wire.leave()
      return `${told} events of 50 kB each, ${cut} of 30 cut`
    },
  },
  {
    name: 'large answers that nobody reads',
    async run(scene, overAt) {
      const wires = await Promise.all(times(60, at => reach({ port: scene.port, from: address(3 + (at % 3)), reads: false })))
      const asked = post(scene.port, JSON.stringify({ query: large }), { 'x-api-key': scene.key })
      for (const { socket } of wires) for (let each = 0; each < 10; each += 1) socket.write(asked)
      await until(overAt)
      for (const wire of wires) wire.leave()
      return '600 questions on 60 connections'
    },
  },
  {
    name: 'floods of subscribe and complete',
    async run(scene, overAt) {
      const wires = await Promise.all(times(20, () => introduced(scene, address(6))))
      await until(performance.now() + 300)
      let sent = 0
      await Promise.all(
        wires.map(async (wire, at) => {
          const query = at % 2 === 0 ? ownEvents(scene) : large
          for (let number = 0; left(overAt) && wire.isOpen; number += 1) {
            const id = at % 4 < 2 ? 'same' : String(number)
            sent += 1
            await pour(
              wire,
              Buffer.concat([frame(JSON.stringify({ id, type: 'subscribe', payload: { query } })), frame(JSON.stringify({ id, type: 'complete' }))]),
              overAt,
            )
            if (number % 20 === 0) await turn()
          }
        }),
      )
      const cut = wires.filter(({ isOpen }) => !isOpen).length
      // Bytes that were sent but not read are discarded with it.
      for (const { socket } of wires) socket.resetAndDestroy()
      return `${sent} of each, ${cut} of 20 cut`
    },
  },
  {
    name: '10,000 connects from a hundred addresses, and 2,000 from one',
    async run({ port }, overAt) {
      const wires: Wire[] = []
      const begin = async (at: number) => {
        const wire = await reach({ port, from: at < 10_000 ? address(500 + (at % 100)) : address(900) }).catch(() => null)
        if (!wire) return
        wires.push(wire)
        wire.socket.write(upgrade(port))
      }
      for (let at = 0; at < 12_000; at += 200) {
        await Promise.all(times(200, offset => begin(at + offset)))
        await turn()
      }
      await until(Math.max(overAt, performance.now() + 500))
      const count = (status: string) => wires.filter(wire => wire.text().startsWith(`HTTP/1.1 ${status}`)).length
      const told = `${count('101')} taken, ${count('429')} refused with 429, ${count('503')} with 503`
      for (const wire of wires) wire.leave()
      return told
    },
  },
  {
    name: 'giant frames, endless fragments, floods of pings',
    async run(scene, overAt) {
      const bodies: readonly (readonly [Buffer, number])[] = [
        // A frame that claims a length of one terabyte.
        [Buffer.from([0x81, 0xff, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]), 1],
        [frame('x'.repeat(300_000)), 1],
        [Buffer.concat(times(500, () => frame('x', 0x00))), 200],
        [Buffer.concat(times(500, () => frame('', 0x00))), 200],
        [Buffer.concat(times(500, () => frame(Buffer.alloc(125), 0x89))), 200],
        [Buffer.concat(times(500, () => frame('{"type":"ping"}'))), 200],
        // Unmasked frames, an unknown opcode, a reserved bit.
        [Buffer.from([0x81, 0x01, 0x41]), 1],
        [frame('x', 0x8f), 1],
        [frame('x', 0xf1), 1],
      ]
      let [begun, cut] = [0, 0]
      await Promise.all(
        times(18, async seat => {
          for (let at = seat; left(overAt); at += 1) {
            const wire = await introduced(scene, address(7), at % 2 === 0)
            begun += 1
            const [bytes, most] = bodies[at % bodies.length]!
            if (bytes[0] === 0x00) wire.socket.write(frame('{', 0x01))
            for (let sent = 0; sent < most && wire.isOpen && left(overAt); sent += 1) await pour(wire, bytes, Math.min(overAt, performance.now() + 300))
            await Promise.race([wire.gone, until(performance.now() + 300)])
            if (!wire.isOpen) cut += 1
            wire.leave()
          }
        }),
      )
      return `${begun} sockets, ${cut} closed`
    },
  },
  {
    name: 'events while clients unsubscribe',
    async run(scene, overAt) {
      let came = 0
      const telling = change(scene, overAt, 5)
      await Promise.all(
        times(24, async seat => {
          for (let at = seat; left(overAt); at += 1) {
            const follower = await follow(
              { ...scene, from: address(8) },
              forms[at % forms.length]!,
              ownEvents(scene, 'id copy brand { name organization { name } }'),
            ).catch(() => null)
            if (!follower) continue
            came += 1
            await until(performance.now() + Math.random() * 60)
            await follower.leave(at % 2 === 0)
          }
        }),
      )
      return `${came} came and left through ${await telling} events`
    },
  },
  {
    name: 'heads and bodies a byte at a time',
    async run({ port }, overAt) {
      const wires = await Promise.all(times(600, at => reach({ port, from: address(9 + (at % 4)) })))
      const whole = post(port, JSON.stringify({ query: '{ __typename }' }))
      const body = whole.indexOf('\r\n\r\n') + 5
      for (const [at, { socket }] of wires.entries()) socket.write(at % 2 === 0 ? whole.slice(0, 20) : whole.slice(0, body))
      while (left(overAt)) {
        for (const [at, wire] of wires.entries()) if (wire.isOpen) wire.socket.write(at % 2 === 0 ? 'x' : ' ')
        await until(performance.now() + 100)
      }
      const open = wires.filter(({ isOpen }) => isOpen).length
      for (const wire of wires) wire.leave()
      return `${open} of 600 wait still`
    },
  },
  {
    name: 'bodies of a megabyte that never end, in pieces of a byte',
    async run({ port }, overAt) {
      const wires = await Promise.all(times(100, at => reach({ port, from: address(20 + (at % 4)) })))
      const head = `POST /graphql HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`
      const pieces = '1\r\nx\r\n'.repeat(4000)
      for (const { socket } of wires) socket.write(head)
      await Promise.all(
        wires.map(async wire => {
          for (let sent = 0; left(overAt) && wire.isOpen && sent < 260; sent += 1) {
            await pour(wire, pieces, overAt)
            await turn()
          }
        }),
      )
      const refused = wires.filter(wire => /^HTTP\/1.1 (?:4\d\d|503)/.test(wire.text())).length
      for (const wire of wires) wire.leave()
      return `${refused} of 100 refused`
    },
  },
  {
    name: 'requests that wait for no answer, over connections that come again',
    async run({ port }, overAt) {
      const asked = 'GET /health/live HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n'.repeat(5_000)
      let connections = 0
      await Promise.all(
        times(20, async at => {
          while (left(overAt)) {
            const wire = await reach({ port, from: address(30 + (at % 4)) })
            connections += 1
            await pour(wire, asked, overAt)
            await turn()
            wire.leave()
          }
        }),
      )
      return `${connections} connections of 5,000 requests`
    },
  },
  {
    name: 'registrations of documents (automatic persisted queries)',
    keeps: 64,
    async run({ url, key }, overAt) {
      const [known, stranger] = [createAsker({ url, key, from: address(13) }, 8), createAsker({ url, from: address(14) }, 8)]
      let registered = 0
      const register = async (asker: typeof known, seat: string) => {
        for (let at = 0; left(overAt); at += 1) {
          const query = `query Q${seat}_${at} { ${times(50, alias => `a${alias}_${at}: __typename`).join(' ')} }`
          const sha256Hash = createHash('sha256').update(query).digest('hex')
          const { status } = await asker.send({ query, extensions: { persistedQuery: { version: 1, sha256Hash } } })
          if (status === 200) registered += 1
        }
      }
      await Promise.all([...times(4, at => register(known, `k${at}`)), ...times(4, at => register(stranger, `s${at}`))])
      known.close()
      stranger.close()
      return `${registered} documents`
    },
  },
  {
    name: 'dear documents, each a new one: what nobody has planned yet',
    keeps: 128,
    async run({ url, key, brandId }, overAt) {
      const asker = createAsker({ url, key, from: address(15) }, 16)
      const codes = new Map<string, number>()
      let asked = 0
      const kinds: readonly ((at: number) => string)[] = [
        at =>
          `query D${at} { ${times(45, alias => `a${alias}_${at}: brand(id: "${brandId}") { id name organization { name brands(first: 1) { nodes { name } } } }`).join(' ')} }`,
        at =>
          `query E${at} { posts(first: 100) { nodes { ${times(90, alias => `b${alias}_${at}: copy`).join(' ')} author { name } brand { name organization { name } } } } }`,
        at =>
          `query F${at} { ${'posts(first: 1) { nodes { brand { organization { brands(first: 1) { nodes { '.repeat(2)} id ${'} } } } } }'.repeat(2)} n${at}: __typename }`,
        at => `query G${at} { ${times(1200, word => `x${word}`).join(' ')} }`,
        at =>
          `query H${at} { ${'posts(first: 100) { nodes { brand { organization { brands(first: 100) { nodes { name '}  ${'} } } } } }'} n${at}: __typename }`,
      ]
      await Promise.all(
        times(16, async seat => {
          for (let at = seat; left(overAt); at += 16) {
            const { text } = await asker.ask(kinds[at % kinds.length]!(at))
            asked += 1
            const code = /"code":"(\w+)"/.exec(text)?.[1] ?? 'answered'
            codes.set(code, (codes.get(code) ?? 0) + 1)
          }
        }),
      )
      asker.close()
      return `${asked} asked: ${[...codes].map(([code, count]) => `${count} ${code}`).join(', ')}`
    },
  },
  {
    name: 'storms of clients that dial again',
    async run(scene, overAt) {
      let [dialled, refused] = [0, 0]
      await Promise.all(
        times(40, async seat => {
          while (left(overAt)) {
            const wire = await dial(scene.url, { localAddress: address(16 + (seat % 2)) }).catch(() => null)
            dialled += 1
            if (!wire) {
              refused += 1
              await until(performance.now() + 20)
              continue
            }
            wire.socket.on('error', () => undefined)
            wire.send({ type: 'connection_init', payload: { 'x-api-key': scene.key } })
            for (let id = 0; id < 5; id += 1) setTimeout(() => wire.socket.readyState === wire.socket.OPEN && wire.subscribe(String(id), ownEvents(scene)), 30)
            await until(performance.now() + 20 + Math.random() * 80)
            wire.socket.terminate()
          }
        }),
      )
      return `${dialled} dialled, ${refused} refused`
    },
  },
]
