import { readId } from '../../../../platform/ids.ts'
import { activeOrganization } from '../../../viewer.ts'
import type { Context } from '../../context.ts'
import { genesisHash } from '../../engines/ledger/chain.ts'
import type { Verification } from '../../engines/ledger/proof.ts'
import { verifyLedger } from '../../engines/ledger/verify.ts'
import type { Resolvers } from '../../resolvers.generated.ts'

/** What is said of an organization that has no merchant yet. */
const empty: Verification = { ok: true, entries: 0n, headHash: genesisHash, brokenAt: null, unbalancedMovements: [], wrongBalances: [], totals: [] }

async function verification(context: Context, merchantId: string | null | undefined): Promise<Verification> {
  const organizationId = activeOrganization(context.viewer, 'The ledger')
  const { merchants } = context
  const id = merchantId ? (await merchants.require(merchantId, 'merchantId')).id : await merchants.defaultOf(organizationId)
  return id ? verifyLedger(context, id) : empty
}

export const ledgerResolvers: Resolvers = {
  Query: {
    ledgerAccounts: async (_, { merchantId, ...page }, { viewer, ledgerAccounts }) => {
      activeOrganization(viewer, 'The ledger')
      return ledgerAccounts.filtered({ merchantId: readId(merchantId, 'merchantId') }, page)
    },
    ledgerEntries: async (_, { merchantId, orderId, settlementBatchId, account, ...page }, { viewer, ledgerEntries }) => {
      activeOrganization(viewer, 'The ledger')
      const filter = {
        merchantId: readId(merchantId, 'merchantId'),
        orderId: readId(orderId, 'orderId'),
        settlementBatchId: readId(settlementBatchId, 'settlementBatchId'),
        account,
      }
      return ledgerEntries.filtered(filter, page)
    },
    ledgerVerification: (_, { merchantId }, context) => verification(context, merchantId),
  },
  LedgerAccount: {
    balance: ({ balanceMinor, currency }) => ({ amountMinor: balanceMinor, currency }),
  },
  LedgerEntry: {
    amount: ({ amountMinor, currency }) => ({ amountMinor, currency }),
  },
}
