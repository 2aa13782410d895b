import type { LedgerEntries } from '../../stores/ledger.ts'
import { openProof, type Verification } from './proof.ts'

/**
 * Reads a merchant's whole ledger again and proves it, as it stood when the proof began; postings meanwhile are not part of it. A merchant
 * without postings has an empty ledger that holds.
 */
export async function verifyLedger(
  { ledgerEntries }: { readonly ledgerEntries: Pick<LedgerEntries, 'snapshot' | 'chainPart'> },
  merchantId: string,
): Promise<Verification> {
  const snapshot = await ledgerEntries.snapshot(merchantId)
  const proof = openProof()
  // Without a chain there should be no entries: any that are there are read, and break the proof.
  const end = snapshot ? snapshot.head.sequence : 2n ** 63n - 1n
  for (let after = 0n; after < end; ) {
    const part = await ledgerEntries.chainPart(merchantId, after, end)
    for (const entry of part) proof.take(entry)
    const last = part.at(-1)
    if (!last) break
    after = last.sequence
  }
  return proof.conclude(snapshot?.head ?? null, snapshot?.accounts ?? [])
}
