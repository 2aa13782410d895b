import { Clock, CreditCard, Lock } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../../design/parts/button.tsx'
import { Facts } from '../../../design/parts/facts.tsx'
import { Note } from '../../../design/parts/status.tsx'
import { useSearch } from '../../../shell/address.tsx'
import { useRights } from '../../../shell/frame/rights.ts'
import { type Read, useRead } from '../../../shell/read.ts'
import { Failure, Region } from '../../../shell/region.tsx'
import { moment } from '../../../shell/time.ts'
import { say } from '../../../shell/words.ts'
import { SettingsPage } from '../tabs.tsx'
import { BillingDocument, type BillingQuery, OpenPortalDocument } from './billing.generated.ts'
import { Claimable } from './claimable.tsx'
import { Plans } from './plans.tsx'
import { refusalOf } from './refusals.ts'
import { Seats } from './seats.tsx'
import { Subscriptions } from './subscriptions.tsx'

/** Whoever comes back from the processor's page looks at most so often for what was paid, this many ms apart. */
const [maxLooks, lookMs] = [10, 2000]

const isStanding = ({ status }: { readonly status: string }): boolean => status !== 'CANCELED' && status !== 'INCOMPLETE'

/** What the active context pays for, to those who manage it: in personal context the person. */
export default function Billing() {
  const { isKnown, isPersonal, roles } = useRights()
  const isManager = isPersonal || roles.some(role => role === 'OWNER' || role === 'ADMIN')
  return (
    <SettingsPage>
      {!isKnown && <Region state="loading" />}
      {isKnown && !isManager && (
        <Region title={say('settings.billing')} state="empty" empty={{ icon: Lock, sentence: say('problem.right', { role: say('role.admins') }) }} />
      )}
      {isKnown && isManager && <Managed isPersonal={isPersonal} />}
    </SettingsPage>
  )
}

function Managed({ isPersonal }: { readonly isPersonal: boolean }) {
  const read = useRead(BillingDocument, {})
  const { data, retry } = read
  const subscriptions = data?.billingSubscriptions ?? []
  const verification = (data?.workspaceVerifications ?? []).find(isStanding)
  const bundle = subscriptions.find(isStanding)
  const returnTo = `${data?.workspace?.links.households.replace(/households$/, '') ?? ''}billing?from=checkout`
  const isAwaited = useAwaited(data !== undefined && !bundle && !verification, retry)
  return (
    <>
      {isAwaited && (
        <Note meaning="info" icon={Clock}>
          {say('billing.awaited')}
        </Note>
      )}
      <Plan read={read} isPersonal={isPersonal} hasPortal={bundle !== undefined || verification !== undefined} returnTo={returnTo} />
      {data && (
        <>
          <Claimable
            subscriptions={bundle ? [] : (data.claimableSubscriptions ?? [])}
            verifications={verification ? [] : (data.claimableVerifications ?? [])}
            reload={retry}
          />
          <Subscriptions
            subscriptions={subscriptions}
            verifications={data.workspaceVerifications ?? []}
            bundle={isPersonal ? undefined : bundle}
            used={data.entitlements?.seats.used ?? 0}
            reload={retry}
          />
          {!isPersonal && bundle && <Seats total={data.entitlements?.seats.total ?? 0} onChange={retry} />}
          {!bundle && data.billingPlans && (
            <Plans plans={data.billingPlans} hasSeats={!isPersonal} isVerified={verification !== undefined} returnTo={returnTo} />
          )}
        </>
      )}
    </>
  )
}

/** Reads again for a while after the way back from the processor, which tells of a payment within seconds. @returns whether it still does */
function useAwaited(isMissing: boolean, retry: () => void): boolean {
  const comesBack = useSearch().get('from') === 'checkout'
  const [looks, setLooks] = useState(0)
  const isGoingOn = comesBack && isMissing && looks < maxLooks
  useEffect(() => {
    if (!isGoingOn) return
    const timer = setTimeout(() => {
      setLooks(looks + 1)
      retry()
    }, lookMs)
    return () => clearTimeout(timer)
  }, [isGoingOn, looks, retry])
  return isGoingOn
}

/** The plan, how much of it is used, and the way to the processor's own pages. */
function Plan({
  read: { data, state, problem, retry },
  isPersonal,
  hasPortal,
  returnTo,
}: {
  readonly read: Read<BillingQuery>
  readonly isPersonal: boolean
  readonly hasPortal: boolean
  readonly returnTo: string
}) {
  const [{ error, fetching }, open] = useMutation(OpenPortalDocument)
  const refused = refusalOf(error)
  const rights = data?.entitlements
  async function openPortal() {
    const answer = await open({ input: { returnTo, idempotencyKey: crypto.randomUUID() } })
    if (answer.data?.createBillingPortal) location.assign(answer.data.createBillingPortal.url)
  }
  const usedOf = (used: number, limit: number | null) => (limit === null ? say('billing.unlimited', { used }) : say('billing.used', { used, limit }))
  return (
    <Region
      title={say('billing.plan')}
      tools={
        hasPortal && (
          <Button icon={CreditCard} isDisabled={fetching} onPress={() => void openPortal()}>
            {say('billing.portal')}
          </Button>
        )
      }
      state={data && !rights ? 'error' : state}
      problem={problem}
      retry={retry}
      lines={4}
    >
      {rights && (
        <>
          <p>{say(`plan.${rights.plan}-means`)}</p>
          <Facts
            of={[
              [say('billing.platform-apps'), usedOf(rights.platformApps.used, rights.platformApps.limit)],
              [say('billing.store-apps'), usedOf(rights.storeApps.used, null)],
              [say('billing.seats'), !isPersonal && rights.seats.total > 0 && usedOf(rights.seats.used, rights.seats.total)],
              [say('billing.until'), rights.validUntil && moment(rights.validUntil)],
            ]}
          />
          {rights.platformApps.limit !== null && rights.platformApps.used > rights.platformApps.limit && (
            <Note meaning="warning" icon={Lock}>
              {say('billing.beyond')}
            </Note>
          )}
        </>
      )}
      {refused && <Failure sentence={refused.sentence} requestId={refused.requestId} />}
    </Region>
  )
}
