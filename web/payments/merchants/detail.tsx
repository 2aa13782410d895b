import { CircleCheck, CirclePause, MapPin, Plus } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Facts } from '../../design/parts/facts.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { Status } from '../../design/parts/status.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { useRights } from '../../shell/frame/rights.ts'
import { Confirm } from '../../shell/parts/ask.tsx'
import { Panel } from '../../shell/parts/panel.tsx'
import { useRead } from '../../shell/read.ts'
import { Failure } from '../../shell/region.tsx'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import {
  ArchiveVenueDocument,
  MerchantDetailDocument,
  type MerchantDetailsFragment,
  type MerchantRowFragment,
  RestoreVenueDocument,
  ResumeMerchantDocument,
  SuspendMerchantDocument,
  type VenueLineFragment,
} from './merchants.generated.ts'
import { MerchantForm, VenueForm } from './new.tsx'

/** How a merchant stands, and whether orders are made in its name where none is said. */
export const MerchantState = ({ merchant: { status, isDefault } }: { readonly merchant: MerchantRowFragment }) => (
  <Status meaning={status === 'ACTIVE' ? 'positive' : 'warning'} icon={status === 'ACTIVE' ? CircleCheck : CirclePause}>
    {say(isDefault && status === 'ACTIVE' ? 'merchants.default' : `merchant.${status}`)}
  </Status>
)

/** One merchant beside the list, with its venues. */
export function MerchantPanel({ id, back }: { readonly id: string; readonly back: string }) {
  const { may } = useRights()
  const { data, state, problem, retry } = useRead(MerchantDetailDocument, { id })
  const [adds, setAdds] = useState(false)
  const merchant = data?.merchant
  const venues = merchant?.venues ?? []
  return (
    <Panel label={say('merchants.one')} heading={merchant?.name} back={back} state={data && !merchant ? 'error' : state} problem={problem} retry={retry}>
      {merchant && (
        <>
          <Details merchant={merchant} />
          <h3>{say('venues.title')}</h3>
          <ul className="list">
            {venues.map(venue => (
              <Venue key={venue.id} venue={venue} />
            ))}
            {venues.length === 0 && <li className="quiet">{say('venues.empty')}</li>}
          </ul>
          {may('payments:venues.write') && (
            <div className="actions">
              <Button icon={Plus} onPress={() => setAdds(true)}>
                {say('venues.create')}
              </Button>
            </div>
          )}
          {adds && <VenueForm merchantId={merchant.id} reload={retry} onClose={() => setAdds(false)} />}
        </>
      )}
    </Panel>
  )
}

function Details({ merchant }: { readonly merchant: MerchantDetailsFragment }) {
  const { may } = useRights()
  const [suspended, suspend] = useMutation(SuspendMerchantDocument)
  const [resumed, resume] = useMutation(ResumeMerchantDocument)
  const [asks, setAsks] = useState<'change' | 'suspend' | null>(null)
  const input = { id: merchant.id, expectedVersion: merchant.version }
  const problem = problemOf(resumed.error)
  async function stop() {
    const { data } = await suspend({ input })
    if (data?.suspendMerchant) setAsks(null)
  }
  return (
    <>
      <div>
        <MerchantState merchant={merchant} />
      </div>
      {may('payments:merchants.write') && (
        <div className="actions">
          <Button onPress={() => setAsks('change')}>{say('merchants.change')}</Button>
          {merchant.status === 'ACTIVE' ? (
            <Button kind="danger" onPress={() => setAsks('suspend')}>
              {say('merchants.suspend')}
            </Button>
          ) : (
            <Button isDisabled={resumed.fetching} onPress={() => void resume({ input })}>
              {say('merchants.resume')}
            </Button>
          )}
        </div>
      )}
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      <Facts
        of={[
          [say('merchants.legal-name'), merchant.legalName],
          [say('merchants.country'), merchant.country],
          [say('merchants.currency'), merchant.defaultCurrency],
          [say('merchants.prefix'), merchant.invoicePrefix],
          [say('merchants.tax-id'), merchant.taxId],
          [say('merchants.support'), merchant.supportEmail],
          [say('merchants.created'), moment(merchant.createdAt)],
        ]}
      />
      {asks === 'change' && <MerchantForm merchant={merchant} onClose={() => setAsks(null)} />}
      {asks === 'suspend' && (
        <Confirm
          title={say('merchants.suspend-title', { name: merchant.name })}
          sentence={say('merchants.suspend-sentence')}
          verb={say('merchants.suspend')}
          isBusy={suspended.fetching}
          problem={problemOf(suspended.error)}
          onConfirm={() => void stop()}
          onClose={() => setAsks(null)}
        />
      )}
    </>
  )
}

function Venue({ venue }: { readonly venue: VenueLineFragment }) {
  const { may } = useRights()
  const [archived, archive] = useMutation(ArchiveVenueDocument)
  const [restored, restore] = useMutation(RestoreVenueDocument)
  const input = { id: venue.id, expectedVersion: venue.version }
  const problem = problemOf(archived.error ?? restored.error)
  const isActive = venue.status === 'ACTIVE'
  const verb = say(isActive ? 'venues.archive' : 'venues.restore')
  return (
    <li data-venue={venue.id}>
      <Icon of={MapPin} />
      <div className="grow">
        <p className="clip">{venue.name}</p>
        <p className="quiet small">
          {[venue.address?.line1, venue.address?.city, venue.address?.country, venue.timeZone, !isActive && say('venues.archived')].filter(Boolean).join(' · ')}
        </p>
        {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      </div>
      {may('payments:venues.write') && (
        <Button
          kind="quiet"
          isDisabled={archived.fetching || restored.fetching}
          onPress={() => void (isActive ? archive({ input }) : restore({ input }))}
          aria-label={say('action.of', { action: verb, name: venue.name })}
        >
          {verb}
        </Button>
      )}
    </li>
  )
}
