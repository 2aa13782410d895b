/**
 * A client that behaves, in a process and at an address of its own: it asks a small question forty times a second, and follows what it
 * changes four times a second; or it uploads a small picture five times a second. `polite.ts` with what it is to do as JSON; each message from its parent is answered by what happened since
 * the one before.
 */

import { createAsker, follow } from '../kit/follower.ts'
import { png } from '../subgraphs/publishing/media/files.ts'

/** What it is told. */
export interface Behaviour {
  readonly url: string
  readonly key?: string
  readonly from?: string
  readonly query: string
  /** A post that nobody else changes, of a brand that it follows. @default it only asks */
  readonly changes?: { readonly postId: string; readonly brandId: string }
  /** A brand into whose library it uploads pictures. @default it uploads none */
  readonly uploads?: { readonly brandId: string }
}

/** What happened to it. Milliseconds. */
export interface Experience {
  readonly asked: number
  /** Answers that were not those that came in peace. */
  readonly wrong: readonly string[]
  readonly p50: number
  readonly p99: number
  readonly changes: number
  /** Of a change until it was told. */
  readonly toldP99: number
  /** Changes of which it was told neither themselves nor a later one within thirty seconds. */
  readonly lost: number
  /** Questions that are not answered yet. */
  readonly under: number
  readonly isCut: boolean
  /** Pictures that it uploaded, and how long the slowest of them took. */
  readonly uploads: number
  readonly uploadP99: number
}

const { url, key, from, query, changes, uploads } = JSON.parse(process.argv[2]!) as Behaviour
const asker = createAsker({ url, key, from }, 6)
const expected = await asker.ask(query)
let latencies: number[] = []
let told: number[] = []
let wrong: string[] = []
let [made, lost] = [0, 0]
const waiting = new Map<number, () => void>()
const stream = changes ? `subscription { postStatusChanged(brandId: "${changes.brandId}") { id copy } }` : ''
const follower =
  changes &&
  (await follow({ url, key, from }, 'websocket', stream, text => {
    // An event carries the post's state at delivery, which may be newer than the change that caused it.
    const newest = Number(/polite (\d+)/.exec(text)?.[1] ?? 0)
    for (const [number, settle] of waiting) if (number <= newest) settle()
  }))

let under = 0
setInterval(() => {
  // Limits the number of waiting questions, because their waiting time is measured.
  if (under >= 100) return
  under += 1
  const at = performance.now()
  void asker.ask(query).then(({ status, text }) => {
    under -= 1
    latencies.push(performance.now() - at)
    if (status !== expected.status || text !== expected.text) wrong.push(`${status} ${text.slice(0, 200)}`)
  })
}, 25)

let count = 0
let isChanging = false
async function change(postId: string): Promise<void> {
  const number = ++count
  const at = performance.now()
  const over = setTimeout(() => {
    waiting.delete(number)
    lost += 1
  }, 30_000)
  waiting.set(number, () => {
    clearTimeout(over)
    waiting.delete(number)
    told.push(performance.now() - at)
  })
  made += 1
  // One after the other: the order of two concurrent changes would be unknown.
  isChanging = true
  const input = { id: postId, copy: `polite ${number}` }
  const { status, text } = await asker.ask('mutation($input: UpdatePostInput!) { updatePost(input: $input) { id } }', { input })
  isChanging = false
  if (status !== 200 || text.includes('"errors"')) wrong.push(`${status} ${text.slice(0, 200)}`)
}
if (changes) setInterval(() => !isChanging && waiting.size < 20 && void change(changes.postId), 250)

let uploaded: number[] = []
async function upload(brandId: string, number: number): Promise<void> {
  const at = performance.now()
  const body = new Uint8Array(png(40, 40, [number % 256, 90, 200]))
  const answer = await fetch(`${url}/publishing/api/media?brandId=${brandId}&filename=${number}.png`, {
    method: 'POST',
    headers: { 'content-type': 'image/png', ...(key && { 'x-api-key': key }) },
    body,
  }).catch(error => new Response(String(error), { status: 599 }))
  const text = await answer.text()
  uploaded.push(performance.now() - at)
  if (answer.status !== 201) wrong.push(`${answer.status} ${text.slice(0, 200)}`)
}
if (uploads) {
  let number = 0
  let isUploading = false
  setInterval(async () => {
    if (isUploading) return
    isUploading = true
    await upload(uploads.brandId, number++)
    isUploading = false
  }, 200)
}

const share = (values: number[], part: number) => {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
}
process.on('message', () => {
  const seen: Experience = {
    asked: latencies.length,
    wrong,
    p50: share(latencies, 0.5),
    p99: share(latencies, 0.99),
    changes: made,
    toldP99: share(told, 0.99),
    lost,
    under,
    isCut: follower?.isCut ?? false,
    uploads: uploaded.length,
    uploadP99: share(uploaded, 0.99),
  }
  uploaded = []
  latencies = []
  told = []
  wrong = []
  made = 0
  lost = 0
  process.send!(seen)
})
process.on('disconnect', () => process.exit())
process.send!('ready')
