import type { Context, Signatures } from '../../context.ts'

/** What signatures of addresses are for. */
const about = 'publishing.media'
/** How long an address is good, in ms: for people, and for networks that fetch. */
const goodMs = { person: 3_600_000, network: 86_400_000 } as const
/** Addresses that are asked for within these ms are the same, so that browsers keep what is behind them. */
const stepMs = 300_000

const signed = (assetId: string, form: string, expires: number): string => `${assetId}/${form}?${expires}`

type Addressing = Pick<Context, 'publicUrl' | 'signatures' | 'clock'>

/** The address of one form of an asset, which shows it to whoever has it until it expires: an hour for people, a day for networks. */
export function addressOf({ publicUrl, signatures, clock }: Addressing, assetId: string, form: string, reader: keyof typeof goodMs = 'person'): string {
  const now = clock.now().getTime()
  const expires = Math.floor((now - (now % stepMs) + goodMs[reader]) / 1000)
  const signature = signatures.sign(signed(assetId, form, expires), about)
  return `${publicUrl}/publishing/media/${assetId}/${form}?expires=${expires}&signature=${signature}`
}

/** How many seconds an address is still good; null for one that never was ours, was altered, or has expired. */
export function goodFor(signatures: Signatures, assetId: string, form: string, query: URLSearchParams, now: Date): number | null {
  const [given, signature] = [query.getAll('expires'), query.getAll('signature')]
  if (given.length !== 1 || signature.length !== 1 || !/^[1-9]\d{0,11}$/.test(given[0]!)) return null
  const expires = Number(given[0])
  const left = expires - Math.floor(now.getTime() / 1000)
  return left > 0 && signatures.isSigned(signature[0]!, signed(assetId, form, expires), about) ? left : null
}
