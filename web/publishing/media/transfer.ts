import type { Session } from '../../shell/session/session.ts'
import { say } from '../../shell/words.ts'

/** How a file on its way stands. */
export interface Transfer {
  readonly key: string
  readonly name: string
  readonly bytes: number
  readonly sent: number
  readonly state: 'sending' | 'waiting' | 'done' | 'failed'
  /** Why it failed, as the platform says it. */
  readonly problem: string | null
  /** The asset that it became. */
  readonly assetId: string | null
}

/** Where it goes. */
export interface Destination {
  readonly brandId: string
  readonly folderId: string | null
}

const path = '/publishing/api/media/uploads'
/** Sent at once; a cut costs less than this. In bytes. */
const chunkSize = 4 * 1024 * 1024
/** Tried again after so many ms each, then the person is asked. */
const retryDelays = [0, 1000, 3000, 5000, 10_000, 20_000, 30_000]

const transfers = new Map<string, Transfer>()
const listeners = new Set<() => void>()
let shown: readonly Transfer[] = []

/** Files on their way, in the order in which they were chosen; they go on while one is on another page of the app. */
export const currentTransfers = (): readonly Transfer[] => shown

/** Tells when one of them moves. @returns ends it */
export function onTransfers(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function put(key: string, changes: Partial<Transfer> & { readonly name?: string }): void {
  const before = transfers.get(key)
  const fresh: Transfer = { key, name: '', bytes: 0, sent: 0, state: 'sending', problem: null, assetId: null }
  transfers.set(key, { ...(before ?? fresh), ...changes })
  publish()
}

function publish(): void {
  shown = [...transfers.values()]
  for (const listener of listeners) listener()
}

/** Takes those out of sight that are over. */
export function clearTransfers(): void {
  for (const [key, { state }] of transfers) if (state === 'done' || state === 'failed') transfers.delete(key)
  publish()
}

/** What tells one file from another, so that the same one, chosen again after a cut or a reload, goes on where it was. */
export const fingerprint = (file: { readonly name: string; readonly size: number; readonly lastModified: number }, brandId: string): string =>
  `${brandId} ${file.size} ${file.lastModified} ${file.name}`

const memory = 'supergraph.publishing.uploads'

/** Addresses of uploads that are not over, by fingerprint; they outlive the tab, and name no secret. */
function readAddresses(): Record<string, string> {
  try {
    return JSON.parse(localStorage.getItem(memory) ?? '{}') as Record<string, string>
  } catch {
    return {}
  }
}

function keepAddress(key: string, address: string | null): void {
  const { [key]: _, ...others } = readAddresses()
  localStorage.setItem(memory, JSON.stringify(address === null ? others : { ...others, [key]: address }))
}

/** Sends files into a brand's library, by tus (https://tus.io): what breaks off goes on from where the platform has it. Never throws; each says for itself how it ended. */
export async function sendFiles(files: readonly File[], destination: Destination, session: Session): Promise<readonly (string | null)[]> {
  return Promise.all(files.map(file => sendFile(file, destination, session)))
}

async function sendFile(file: File, destination: Destination, session: Session): Promise<string | null> {
  const key = fingerprint(file, destination.brandId)
  if (transfers.get(key)?.state === 'sending') return null
  put(key, { name: file.name, bytes: file.size, sent: 0, state: 'sending', problem: null, assetId: null })
  try {
    const address = readAddresses()[key] ?? (await begin(file, destination, session))
    keepAddress(key, address)
    const assetId = await follow(key, file, address, session)
    keepAddress(key, null)
    put(key, { state: 'done', sent: file.size, assetId })
    return assetId
  } catch (error) {
    if (error instanceof Gone) {
      // It rested for too long, and is begun once more.
      keepAddress(key, null)
      return sendFile(file, destination, session)
    }
    put(key, { state: 'failed', problem: error instanceof Told ? error.message : say('problem.network') })
    return null
  }
}

/** What the platform said against it, in its own words. */
class Told extends Error {}
/** There is no such upload any more. */
class Gone extends Error {}

const base64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)))

async function authorization(session: Session): Promise<Record<string, string>> {
  const token = await session.token()
  return token === null ? {} : { authorization: `Bearer ${token}` }
}

async function begin(file: File, { brandId, folderId }: Destination, session: Session): Promise<string> {
  const metadata = { brandId, filename: file.name, ...(folderId !== null && { folderId }) }
  const answer = await fetch(path, {
    method: 'POST',
    headers: {
      ...(await authorization(session)),
      'tus-resumable': '1.0.0',
      'upload-length': String(file.size),
      'upload-metadata': Object.entries(metadata)
        .map(([name, value]) => `${name} ${base64(value)}`)
        .join(','),
    },
  })
  const location = answer.headers.get('location')
  if (answer.status !== 201 || !location) throw new Told(await detailOf(await answer.text()))
  // The platform names its public address; this page may ask its own origin alone.
  return new URL(location, window.location.href).pathname
}

function detailOf(body: string): string {
  try {
    return (JSON.parse(body) as { readonly detail?: string }).detail ?? say('problem.INTERNAL_SERVER_ERROR')
  } catch {
    return say('problem.INTERNAL_SERVER_ERROR')
  }
}

async function follow(key: string, file: File, address: string, session: Session): Promise<string | null> {
  const { Upload } = await import('tus-js-client')
  const over = Promise.withResolvers<string | null>()
  let assetId: string | null = null
  const upload = new Upload(file, {
    uploadUrl: address,
    chunkSize,
    retryDelays,
    storeFingerprintForResuming: false,
    onBeforeRequest: async request => {
      for (const [name, value] of Object.entries(await authorization(session))) request.setHeader(name, value)
    },
    onAfterResponse: (_, answer) => {
      assetId = answer.getHeader('x-media-asset-id') ?? assetId
    },
    onShouldRetry: error => {
      put(key, { state: 'waiting' })
      const status = error.originalResponse?.getStatus() ?? 0
      return status === 0 || status >= 500 || status === 408 || status === 409 || status === 429
    },
    onProgress: sent => put(key, { sent, state: 'sending' }),
    onSuccess: () => over.resolve(assetId),
    onError: error => {
      const response = 'originalResponse' in error ? error.originalResponse : null
      const status = response?.getStatus() ?? 0
      over.reject(status === 404 || status === 410 ? new Gone() : status >= 400 ? new Told(detailOf(response?.getBody() ?? '')) : error)
    },
  })
  upload.start()
  return over.promise
}
