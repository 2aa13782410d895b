import type { RecordPurpose, RecordStatus, SenderDomainRow, WantedRecord } from '../../stores/email/domain.ts'

/**
 * Returns the DNS records by which a domain authorizes us to send.
 * @param mailDomain where the operator publishes the sending servers (`_spf.`), and receives bounces (`bounces.`)
 */
export const recordsOf = ({ domain, token, selector, publicKey }: Pick<SenderDomainRow, 'domain' | 'token' | 'selector' | 'publicKey'>, mailDomain: string) =>
  [
    { purpose: 'OWNERSHIP', type: 'TXT', host: `_supergraph.${domain}`, value: `supergraph-domain=${token}` },
    { purpose: 'SPF', type: 'TXT', host: domain, value: `v=spf1 include:_spf.${mailDomain} ~all` },
    { purpose: 'DKIM', type: 'TXT', host: `${selector}._domainkey.${domain}`, value: `v=DKIM1; k=rsa; p=${publicKey}` },
    { purpose: 'DMARC', type: 'TXT', host: `_dmarc.${domain}`, value: 'v=DMARC1; p=none' },
    { purpose: 'RETURN_PATH', type: 'CNAME', host: `bounces.${domain}`, value: `bounces.${mailDomain}` },
  ] as const satisfies readonly WantedRecord[]

const tags = (record: string): ReadonlyMap<string, string> =>
  new Map(
    record.split(';').flatMap(part => {
      const at = part.indexOf('=')
      return at < 0 ? [] : [[part.slice(0, at).trim().toLowerCase(), part.slice(at + 1).replace(/\s/g, '')] as const]
    }),
  )

/** Whether a record has the wanted meaning, for records that may be written differently. */
const says: Readonly<Record<RecordPurpose, (found: string, wanted: string) => boolean>> = {
  OWNERSHIP: (found, wanted) => found.trim() === wanted,
  // Other services may send for the domain as well: the record must include ours.
  SPF: (found, wanted) => found.toLowerCase().split(/\s+/).slice(1).includes(wanted.split(' ')[1]!.toLowerCase()),
  DKIM: (found, wanted) => tags(found).get('p') === tags(wanted).get('p'),
  // Any DMARC policy of the owner is accepted.
  DMARC: found => ['none', 'quarantine', 'reject'].includes(tags(found).get('p')?.toLowerCase() ?? ''),
  RETURN_PATH: (found, wanted) => found.toLowerCase().replace(/\.$/, '') === wanted.toLowerCase(),
}

/** Whether a record at a name has a purpose: other records may exist beside it. */
const concerns: Readonly<Record<RecordPurpose, (found: string) => boolean>> = {
  OWNERSHIP: found => found.trim().startsWith('supergraph-domain='),
  SPF: found => /^v=spf1(?:\s|$)/i.test(found),
  DKIM: found => tags(found).has('p'),
  DMARC: found => /^\s*v\s*=\s*DMARC1\s*(?:;|$)/i.test(found),
  RETURN_PATH: () => true,
}

/** Purposes of which several records invalidate each other (RFC 7208 §4.5, RFC 7489 §6.6.3). */
const single: readonly RecordPurpose[] = ['SPF', 'DMARC', 'RETURN_PATH']

/** Returns the status of the records at a name. */
export function statusOf({ purpose, value }: WantedRecord, found: readonly string[]): RecordStatus {
  const ours = found.filter(concerns[purpose])
  if (ours.length === 0) return 'MISSING'
  if (single.includes(purpose) && ours.length > 1) return 'WRONG'
  return ours.some(each => says[purpose](each, value)) ? 'FOUND' : 'WRONG'
}
