import { useMutation } from 'urql'
import { Button } from '../../../design/parts/button.tsx'
import { toast } from '../../../design/parts/toast.tsx'
import { money } from '../../../shell/parts/money.ts'
import { Failure, Region } from '../../../shell/region.tsx'
import { say } from '../../../shell/words.ts'
import { type BillingQuery, ClaimSubscriptionDocument, ClaimVerificationDocument, type SubscriptionLineFragment } from './billing.generated.ts'
import { refusalOf } from './refusals.ts'

/** Bundles and free workspaces that were bought without an account, with the person's address. */
export function Claimable({
  subscriptions,
  verifications,
  reload,
}: {
  readonly subscriptions: readonly SubscriptionLineFragment[]
  readonly verifications: NonNullable<BillingQuery['claimableVerifications']>
  reload(): void
}) {
  const [bundle, claimBundle] = useMutation(ClaimSubscriptionDocument)
  const [verification, claimVerification] = useMutation(ClaimVerificationDocument)
  const refused = refusalOf(bundle.error ?? verification.error)
  const isBusy = bundle.fetching || verification.fetching
  if (subscriptions.length + verifications.length === 0) return null
  const claim = async (plan: string, claiming: Promise<{ readonly error?: unknown }>) => {
    const { error } = await claiming
    reload()
    if (!error) toast({ sentence: say('billing.claimed', { plan }) })
  }
  const lines = [
    ...subscriptions.map(({ id, package: name, amount, interval, seats }) => {
      const plan = say(`plan.${name}`)
      const price = say('billing.line', { amount: money(amount), interval: say(`billing.per-${interval}`), count: seats })
      return { id, plan, price, press: () => void claim(plan, claimBundle({ input: { id } })) }
    }),
    ...verifications.map(({ id, amount }) => {
      const plan = say('plan.FREE_WORKSPACE')
      const price = say('billing.line', { amount: money(amount), interval: say('billing.per-YEAR'), count: 0 })
      return { id, plan, price, press: () => void claim(plan, claimVerification({ input: { id } })) }
    }),
  ]
  return (
    <Region isFlush title={say('billing.claimable')} state="ready">
      <ul className="list">
        {lines.map(({ id, plan, price, press }) => (
          <li key={id}>
            <div className="grow">
              <p className="clip">{plan}</p>
              <p className="quiet small">{price}</p>
            </div>
            <Button isDisabled={isBusy} onPress={press} aria-label={say('action.of', { action: say('billing.claim'), name: plan })}>
              {say('billing.claim')}
            </Button>
          </li>
        ))}
      </ul>
      {refused && <Failure sentence={refused.sentence} requestId={refused.requestId} />}
    </Region>
  )
}
