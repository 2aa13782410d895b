import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../../design/parts/button.tsx'
import { Facts } from '../../../design/parts/facts.tsx'
import { Field } from '../../../design/parts/field.tsx'
import { toast } from '../../../design/parts/toast.tsx'
import { Link } from '../../../shell/address.tsx'
import { useOnce } from '../../../shell/data/draft.ts'
import { problemOf } from '../../../shell/data/problems.ts'
import { useRights } from '../../../shell/frame/rights.ts'
import { Confirm, FormDialog } from '../../../shell/parts/ask.tsx'
import { Panel } from '../../../shell/parts/panel.tsx'
import { useRead } from '../../../shell/read.ts'
import { Failure } from '../../../shell/region.tsx'
import { moment } from '../../../shell/time.ts'
import { say } from '../../../shell/words.ts'
import { VenueState } from './state.tsx'
import { CloseVenueDocument, ReopenVenueDocument, UpdateVenueDocument, VenueDetailDocument, type VenueDetailsFragment } from './venues.generated.ts'

/** One venue beside the list: where it is, and whose. */
export function VenuePanel({ id, back }: { readonly id: string; readonly back: string }) {
  const { may } = useRights()
  const { data, state, problem, retry } = useRead(VenueDetailDocument, { id })
  const venue = data?.venue
  const { line1, line2, postalCode, city, country } = venue?.address ?? {}
  return (
    <Panel label={say('venues.one')} heading={venue?.name} back={back} state={data && !venue ? 'error' : state} problem={problem} retry={retry}>
      {venue && (
        <>
          <div>
            <VenueState status={venue.status} />
          </div>
          {may('payments:venues.write') && <Actions venue={venue} />}
          <Facts
            of={[
              [
                say('merchants.one'),
                venue.merchant && (
                  <Link key="merchant" to={`/merchants/${venue.merchant.id}`}>
                    {venue.merchant.name}
                  </Link>
                ),
              ],
              [say('venues.address'), [line1, line2, [postalCode, city].filter(Boolean).join(' '), country].filter(Boolean).join(', ')],
              [say('venues.zone'), venue.timeZone],
              [say('merchants.created'), moment(venue.createdAt)],
            ]}
          />
        </>
      )}
    </Panel>
  )
}

function Actions({ venue }: { readonly venue: VenueDetailsFragment }) {
  const [asks, setAsks] = useState<'change' | 'archive' | null>(null)
  const [archived, archive] = useMutation(CloseVenueDocument)
  const [restored, restore] = useMutation(ReopenVenueDocument)
  const input = { id: venue.id, expectedVersion: venue.version }
  const problem = problemOf(restored.error)
  async function close() {
    const { data } = await archive({ input })
    if (data?.archiveVenue) setAsks(null)
  }
  return (
    <>
      <div className="actions">
        {venue.status === 'ACTIVE' ? (
          <>
            <Button onPress={() => setAsks('change')}>{say('venues.change')}</Button>
            <Button onPress={() => setAsks('archive')}>{say('venues.archive')}</Button>
          </>
        ) : (
          <Button isDisabled={restored.fetching} onPress={() => void restore({ input })}>
            {say('venues.restore')}
          </Button>
        )}
      </div>
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      {asks === 'change' && <Change venue={venue} onClose={() => setAsks(null)} />}
      {asks === 'archive' && (
        <Confirm
          title={say('venues.archive')}
          sentence={say('venues.archive-sentence', { name: venue.name })}
          verb={say('venues.archive')}
          isBusy={archived.fetching}
          problem={problemOf(archived.error)}
          onConfirm={() => void close()}
          onClose={() => setAsks(null)}
        />
      )}
    </>
  )
}

const lines = ['line1', 'line2', 'postalCode', 'city', 'country'] as const

/** Changes what a venue is called, where it is and which time it keeps. */
function Change({ venue, onClose }: { readonly venue: VenueDetailsFragment; onClose(): void }) {
  const idempotencyKey = useOnce()
  const [{ error, fetching }, update] = useMutation(UpdateVenueDocument)
  const [name, setName] = useState(venue.name)
  const [timeZone, setTimeZone] = useState(venue.timeZone)
  const [address, setAddress] = useState(
    () => Object.fromEntries(lines.map(each => [each, venue.address?.[each] ?? ''])) as Record<(typeof lines)[number], string>,
  )
  const [isTried, setTried] = useState(false)
  const problem = problemOf(error)
  const wrong = (field: string) => (problem?.field === field ? problem.sentence : null)
  async function save() {
    setTried(true)
    if (name.trim() === '') return
    const filled = Object.fromEntries(lines.map(each => [each, address[each].trim() || null]))
    const isEmpty = Object.values(filled).every(each => each === null)
    const input = {
      id: venue.id,
      name: name.trim(),
      timeZone: timeZone.trim(),
      address: isEmpty ? null : filled,
      expectedVersion: venue.version,
      idempotencyKey,
    }
    const { data } = await update({ input })
    if (!data?.updateVenue) return
    toast({ sentence: say('venues.changed', { name: data.updateVenue.name }) })
    onClose()
  }
  return (
    <FormDialog
      title={say('venues.change')}
      verb={say('action.save')}
      isBusy={fetching}
      problem={problem}
      fields={['name', 'timeZone', ...lines.map(each => `address.${each}`)]}
      onDo={() => void save()}
      onClose={onClose}
    >
      <Field label={say('venues.name')} value={name} onChange={setName} wrong={isTried && name.trim() === '' ? say('form.required') : wrong('name')} />
      {lines.map(each => (
        <Field
          key={each}
          label={say(`venue-field.${each}`)}
          value={address[each]}
          onChange={value => setAddress({ ...address, [each]: value })}
          wrong={wrong(`address.${each}`)}
        />
      ))}
      <Field label={say('venues.zone')} value={timeZone} onChange={setTimeZone} hint="Europe/Berlin" wrong={wrong('timeZone')} />
    </FormDialog>
  )
}
