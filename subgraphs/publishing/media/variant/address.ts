import type { Context, Signatures } from '../../context.ts'

/** Purpose under which addresses are signed. */
const about = 'publishing.media'
/** Validity of an address in ms: for people, and for networks that fetch media. */
const goodMs = { person: 3_600_000, network: 86_400_000 } as const
/** Period in ms within which repeated requests get the same address, so that browsers can cache the file. */
const stepMs = 300_000

const signed = (assetId: string, form: string, expires: number): string => `${assetId}/${form}?${expires}`

type Addressing = Pick<Context, 'publicUrl' | 'signatures' | 'clock'>

/**
 * Returns the signed address of one format of an asset, which works without sign-in until it expires: after an hour for
 * people, a day for networks.
 */
export function addressOf({ publicUrl, signatures, clock }: Addressing, assetId: string, form: string, reader: keyof typeof goodMs = 'person'): string {
  const now = clock.now().getTime()
  const expires = Math.floor((now - (now % stepMs) + goodMs[reader]) / 1000)
  const signature = signatures.sign(signed(assetId, form, expires), about)
  return `${publicUrl}/publishing/media/${assetId}/${form}?expires=${expires}&signature=${signature}`
}

/** Returns how many seconds an address remains valid; null when it is forged, altered or expired. */
export function goodFor(signatures: Signatures, assetId: string, form: string, query: URLSearchParams, now: Date): number | null {
  const [given, signature] = [query.getAll('expires'), query.getAll('signature')]
  if (given.length !== 1 || signature.length !== 1 || !/^[1-9]\d{0,11}$/.test(given[0]!)) return null
  const expires = Number(given[0])
  const left = expires - Math.floor(now.getTime() / 1000)
  return left > 0 && signatures.isSigned(signature[0]!, signed(assetId, form, expires), about) ? left : null
}
