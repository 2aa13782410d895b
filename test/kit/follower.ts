import { Agent, request } from 'node:http'
import { type BareSocket, dial } from './bare-socket.ts'

/** Who asks: where, with what credential, from which address. */
export interface Caller {
  readonly url: string
  readonly key?: string | undefined
  /** An address of this machine that is the caller's own. @default 127.0.0.1 */
  readonly from?: string | undefined
}

/** Asks over kept-alive connections of its own. */
export function createAsker({ url, key, from }: Caller, connections = 4) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections, ...(from && { localAddress: from }) })
  const headers = { 'content-type': 'application/json', ...(key && { 'x-api-key': key }) }
  const send = (body: object) =>
    new Promise<{ status: number; text: string }>(resolve => {
      const asking = request(`${url}/graphql`, { method: 'POST', agent, headers }, response => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', part => (text += part))
        response.on('end', () => resolve({ status: response.statusCode!, text }))
        response.on('error', () => resolve({ status: 0, text }))
      })
      asking.on('error', error => resolve({ status: 0, text: String(error) }))
      asking.end(JSON.stringify(body))
    })
  return {
    /** @returns the answer's status and text; status 0 when the connection broke */
    send,
    ask: (query: string, variables?: object) => send({ query, variables }),
    close: () => agent.destroy(),
  }
}

/** The three forms in which a stream comes. */
export const forms = ['websocket', 'sse', 'multipart'] as const
export type Form = (typeof forms)[number]

export interface Follower {
  /** Events that it was told. */
  readonly told: number
  /** Whether it was ended without having left. */
  readonly isCut: boolean
  /** Leaves as its form has it, or without a word. */
  leave(politely?: boolean): Promise<void>
}

const accepts = { sse: 'text/event-stream', multipart: 'multipart/mixed;subscriptionSpec="1.0", application/json' }
const marks = { sse: 'event: next', multipart: '{"payload":{' }

/** Follows a subscription in one of the forms; resolves when the stream is open. */
export async function follow(caller: Caller, form: Form, query: string, onTold: (text: string) => void = () => {}): Promise<Follower> {
  return form === 'websocket' ? overWebSocket(caller, query, onTold) : overHttp(caller, form, query, onTold)
}

async function overWebSocket({ url, key, from }: Caller, query: string, onTold: (text: string) => void): Promise<Follower> {
  const wire: BareSocket = await dial(url, { ...(from && { localAddress: from }) })
  let [told, isCut, left] = [0, false, false]
  wire.socket.on('message', data => {
    const text = String(data)
    if (!text.includes('"type":"next"')) return
    told += 1
    onTold(text)
  })
  wire.closed.then(() => (isCut = !left))
  await wire.init(key ? { 'x-api-key': key } : undefined)
  wire.subscribe('1', query)
  await wire.read()
  return {
    get told() {
      return told
    },
    get isCut() {
      return isCut || wire.messages.some(({ type }) => type === 'error' || type === 'complete')
    },
    async leave(politely = true) {
      left = true
      if (!politely) return wire.socket.terminate()
      wire.send({ id: '1', type: 'complete' })
      wire.socket.close(1000)
      await wire.closed
    },
  }
}

function overHttp({ url, key, from }: Caller, form: 'sse' | 'multipart', query: string, onTold: (text: string) => void): Promise<Follower> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', accept: accepts[form], ...(key && { 'x-api-key': key }) }
    const asking = request(`${url}/graphql`, { method: 'POST', agent: false, headers, ...(from && { localAddress: from }) }, response => {
      if (response.statusCode !== 200) return reject(new Error(`${form}: ${response.statusCode}`))
      let [told, isCut, left] = [0, false, false]
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        const messages = part.split(marks[form]).length - 1
        told += messages
        if (messages > 0) onTold(part)
      })
      response.on('error', () => undefined)
      response.on('close', () => (isCut = !left))
      resolve({
        get told() {
          return told
        },
        get isCut() {
          return isCut
        },
        async leave() {
          left = true
          asking.destroy()
        },
      })
    })
    asking.on('error', reject)
    asking.end(JSON.stringify({ query }))
  })
}
