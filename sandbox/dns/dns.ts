import { createSocket, type RemoteInfo, type Socket as UdpSocket } from 'node:dgram'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import packet, { type Answer, type DecodedPacket, type Question } from 'dns-packet'
import type { Control, FaultKind } from '../network.ts'
import { listenOn, type ServerOptions } from './listening.ts'

/** DNS records of one name and type. */
interface Entry {
  readonly name: string
  readonly type: 'TXT' | 'CNAME'
  readonly values: readonly string[]
}

/** A server of DNS that listens. */
export interface DnsServer {
  readonly port: number
  /** Address to configure in resolvers, e.g. `127.0.0.1:5353`. */
  readonly address: string
  /** Returns the records that are set, oldest first. */
  received(): readonly Entry[]
  /**
   * Control `dns`: `{ name, type, value }` sets a record, or several records when `value` is a list of texts; null
   * removes them.
   */
  readonly controls: { readonly dns: Control }
  stop(): Promise<void>
}

/** Name of the DNS server in faults and logs. */
export const dns = 'dns'

const mostRecords = 5_000
const types = ['TXT', 'CNAME'] as const
/**
 * Size limit of an answer over UDP in bytes: for clients that announce no limit (RFC 1035 §4.2.1), and the maximum for
 * all others.
 */
const [plainBytes, mostBytes] = [512, 4096]
const ttl = 1
/** Idle timeout of a connection, in ms. */
const silenceMs = 10_000

const keyOf = (name: string, type: string): string => `${name.toLowerCase().replace(/\.$/, '')} ${type}`

/** Splits a text into the strings of a TXT record (RFC 1035 §3.3.14). */
const pieces = (text: string): string[] => text.match(/[\s\S]{1,255}/g) ?? ['']

/**
 * Starts a DNS server (RFC 1035) that is the authority for every record set in it, over UDP and TCP on one port. All
 * other names do not exist; an answer longer than a client accepts over UDP is truncated, so that the client retries
 * over TCP.
 */
export async function startDnsServer({ state, faults, requests, clock, host, port }: ServerOptions): Promise<DnsServer> {
  const records = state.collection<Entry>('dns records', mostRecords)
  const sockets = new Set<Socket>()
  const timers = new Set<NodeJS.Timeout>()

  const noted = (question: Question | undefined, status: number | null, fault: FaultKind | null) =>
    requests.add({
      at: clock.now().toISOString(),
      network: dns,
      method: question?.type ?? '?',
      path: question?.name ?? '',
      status,
      outcome: fault ? 'faulted' : 'read',
      fault,
      reason: fault && 'a fault was armed',
    })

  const answersTo = ({ name, type }: Question): Answer[] => {
    const found = records.get(keyOf(name, type))
    if (found && type === 'TXT') return found.values.map(value => ({ name, type: 'TXT', ttl, data: pieces(value) }))
    const alias = records.get(keyOf(name, 'CNAME'))?.values[0]
    if (alias === undefined) return []
    const itself: Answer = { name, type: 'CNAME', ttl, data: alias }
    return type === 'CNAME' ? [itself] : [itself, ...answersTo({ name: alias, type })]
  }

  const exists = (name: string): boolean => {
    const wanted = name.toLowerCase()
    return [...records.values()].some(each => each.name === wanted || each.name.endsWith(`.${wanted}`))
  }

  /**
   * @returns the answer; null when the query is not answered @param most size limit of the client in bytes; null:
   * unlimited
   */
  function answer(asked: DecodedPacket, most: number | null): Buffer {
    const [question] = asked.questions ?? []
    const reply = (rcode: number, answers: Answer[], flags: number) =>
      packet.encode({
        type: 'response',
        id: asked.id ?? 0,
        flags: packet.AUTHORITATIVE_ANSWER | ((asked.flags ?? 0) & packet.RECURSION_DESIRED) | flags | rcode,
        questions: asked.questions ?? [],
        answers,
      })
    if (!question) return reply(1, [], 0)
    const answers = answersTo(question)
    const whole = reply(answers.length > 0 || exists(question.name) ? 0 : 3, answers, 0)
    noted(question, null, null)
    return most === null || whole.length <= most ? whole : reply(0, [], packet.TRUNCATED_RESPONSE)
  }

  /** Answers a query, or applies an armed fault. */
  function meet(raw: Buffer, most: number | null, send: (reply: Buffer) => void, cut: () => void): void {
    let asked: DecodedPacket
    try {
      asked = packet.decode(raw)
    } catch {
      return void cut()
    }
    const size = Math.min(udpSize(asked), mostBytes)
    const fault = faults.take(dns, ['status', 'timeout-after-accept', 'accept-then-reset', 'slow', 'malformed'])
    state.commit()
    if (!fault) return void send(answer(asked, most === null ? null : Math.max(most, size)))
    noted(asked.questions?.[0], fault.status ?? null, fault.fault)
    if (fault.fault === 'timeout-after-accept') return
    if (fault.fault === 'accept-then-reset') return void cut()
    if (fault.fault === 'malformed') return void send(Buffer.concat([raw.subarray(0, 2), Buffer.alloc(7, 0xff)]))
    // Uses the code for the server's own failure (SERVFAIL).
    if (fault.fault === 'status')
      return void send(packet.encode({ type: 'response', id: asked.id ?? 0, flags: 2, questions: asked.questions ?? [], answers: [] }))
    const timer = setTimeout(() => {
      timers.delete(timer)
      send(answer(asked, most === null ? null : Math.max(most, size)))
    }, fault.delayMs)
    timers.add(timer.unref())
  }

  const openUdp = (family: 4 | 6): UdpSocket => {
    const socket = createSocket(family === 4 ? { type: 'udp4' } : { type: 'udp6', ipv6Only: true })
    socket.on('message', (raw: Buffer, from: RemoteInfo) =>
      meet(
        raw,
        plainBytes,
        reply => socket.send(reply, from.port, from.address, () => {}),
        () => {},
      ),
    )
    return socket
  }

  const openTcp = (): Server =>
    createServer(socket => {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
      socket.on('error', () => {})
      socket.setTimeout(silenceMs, () => socket.destroy())
      let rest = Buffer.alloc(0)
      socket.on('data', (chunk: Buffer) => {
        rest = Buffer.concat([rest, chunk])
        while (rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE(0)) {
          const end = 2 + rest.readUInt16BE(0)
          const raw = Buffer.from(rest.subarray(2, end))
          rest = Buffer.from(rest.subarray(end))
          meet(
            raw,
            null,
            reply => {
              const length = Buffer.alloc(2)
              length.writeUInt16BE(reply.length)
              socket.write(Buffer.concat([length, reply]))
            },
            () => socket.resetAndDestroy(),
          )
        }
      })
    })

  const open = await listen(openTcp, openUdp, host, port)
  let stopped: Promise<void> | undefined
  const stop = async () => {
    for (const timer of timers) clearTimeout(timer)
    const closed = [
      ...open.tcp.map(server => new Promise<void>(resolve => server.close(() => resolve()))),
      ...open.udp.map(socket => new Promise<void>(resolve => socket.close(() => resolve()))),
    ]
    for (const socket of sockets) socket.destroy()
    await Promise.all(closed)
  }
  return {
    port: open.port,
    address: `${host === 'localhost' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host}:${open.port}`,
    received: () => [...records.values()],
    controls: {
      dns({ name, type, value, ...others }) {
        if (Object.keys(others).length > 0) return `${Object.keys(others).join(', ')} is not known here: a record has name, type and value.`
        if (typeof name !== 'string' || !/^[a-z0-9_.-]{1,253}$/i.test(name)) return 'name is no name of DNS.'
        const kind = types.find(each => each === type)
        if (!kind) return `type is ${JSON.stringify(type)}: expected ${types.join(' or ')}.`
        const values = value === null ? [] : [value].flat()
        if (!values.every(each => typeof each === 'string' && each.length <= 4_000)) return 'value is no text, list of texts, or null.'
        const key = keyOf(name, kind)
        if (values.length === 0) records.delete(key)
        else records.set(key, { name: name.toLowerCase().replace(/\.$/, ''), type: kind, values: values as string[] })
        return { name, type: kind, values }
      },
    },
    stop() {
      stopped ??= stop()
      return stopped
    },
  }
}

/** Returns the size of an answer that a client accepts over UDP (RFC 6891). */
const udpSize = ({ additionals = [] }: DecodedPacket): number =>
  additionals.map(each => ('udpPayloadSize' in each ? each.udpPayloadSize : 0)).find(size => size > plainBytes) ?? plainBytes

interface Open {
  readonly port: number
  readonly tcp: readonly Server[]
  readonly udp: readonly UdpSocket[]
}

/**
 * Listens on one port for both protocols; for `localhost`, on both address families. Uses a free port instead if any
 * process already uses that port.
 */
async function listen(openTcp: () => Server, openUdp: (family: 4 | 6) => UdpSocket, host: string, port: number): Promise<Open> {
  const addresses = host === 'localhost' ? ['127.0.0.1', '::1'] : [host]
  for (let [wanted, turn] = [port, 1]; ; wanted = 0, turn += 1) {
    const [tcp, udp]: [Server[], UdpSocket[]] = [[], []]
    try {
      let bound = wanted
      for (const address of addresses) {
        try {
          tcp.push(await listenOn(openTcp(), address, bound))
        } catch (error) {
          if (tcp.length > 0 && ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(codeOf(error))) continue
          throw error
        }
        bound = (tcp[0]!.address() as AddressInfo).port
        udp.push(await bindUdp(openUdp(address.includes(':') ? 6 : 4), address, bound))
      }
      return { port: bound, tcp, udp }
    } catch (error) {
      for (const each of [...tcp, ...udp]) each.close()
      if (codeOf(error) !== 'EADDRINUSE' || turn === 5) throw error
    }
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? ''

const bindUdp = (socket: UdpSocket, address: string, port: number): Promise<UdpSocket> =>
  new Promise((resolve, reject) => {
    socket.once('error', error => {
      socket.close()
      reject(error)
    })
    socket.bind(port, address, () => {
      socket.removeAllListeners('error')
      // A client that left before the answer is no error of the server.
      socket.on('error', () => {})
      resolve(socket)
    })
  })
