import { readConfig } from '../../config.ts'
import { openPlatformDatabase } from '../../db/embedded.ts'
import { systemClock } from '../../platform/clock.ts'
import { StartError } from '../../start-error.ts'
import { verifyLedger } from '../../subgraphs/payments/engines/ledger/verify.ts'
import { ledgerEntryStore } from '../../subgraphs/payments/stores/ledger.ts'

// `npm run ledger:verify`: reads every merchant's ledger again and proves it, in the database of DATABASE_URL or of the platform that runs in the
// data folder. A line a merchant; exit code 1 when one does not hold.
const stack = new AsyncDisposableStack()
try {
  const sequelize = await openPlatformDatabase(readConfig(undefined, { secrets: false }), stack)
  const reading = { fresh: true, signal: new AbortController().signal, read() {}, statement: <Result>(run: () => Result) => run() }
  const ledgerEntries = ledgerEntryStore.open({ sequelize, clock: systemClock, viewer: null, reading })
  let [entries, problems] = [0n, 0]
  for (const merchantId of await ledgerEntries.merchantsWithEntries()) {
    const proof = await verifyLedger({ ledgerEntries }, merchantId)
    entries += proof.entries
    const wrong = [
      ...(proof.brokenAt === null ? [] : [`chain broken at ${proof.brokenAt}`]),
      ...proof.unbalancedMovements.map(id => `movement ${id} does not balance`),
      ...proof.wrongBalances.map(account => `balance of ${account} is not the sum of its entries`),
      ...proof.totals.filter(({ amountMinor }) => amountMinor !== 0n).map(({ amountMinor, currency }) => `entries sum to ${amountMinor} ${currency}`),
    ]
    problems += wrong.length
    console.log(`${merchantId}  ${proof.entries} entries  ${proof.headHash}  ${wrong.length === 0 ? 'holds' : wrong.join('; ')}`)
  }
  console.log(`ledger: ${entries} entries, ${problems} problems`)
  if (problems > 0) process.exitCode = 1
} catch (error) {
  if (!(error instanceof StartError)) throw error
  console.error(error.message)
  process.exitCode = 1
} finally {
  await stack.disposeAsync()
}
