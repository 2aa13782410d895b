import { Ban, CircleAlert, CircleCheck, CircleHelp, Loader, type LucideIcon, OctagonX } from 'lucide-react'
import { Facts } from '../../design/parts/facts.tsx'
import { type Meaning, Note, Status } from '../../design/parts/status.tsx'
import { dollars } from '../../shell/parts/money.ts'
import { Panel } from '../../shell/parts/panel.tsx'
import { locale } from '../../shell/place.ts'
import { useRead } from '../../shell/read.ts'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { providerTitle } from '../names.ts'
import { CallDetailDocument, type CallDetailsFragment, type CallStatus } from './calls.generated.ts'

const number = new Intl.NumberFormat(locale)
const duration = new Intl.NumberFormat(locale, { style: 'unit', unit: 'millisecond', unitDisplay: 'short' })
const shown = (value: number | null | undefined) => (value === null || value === undefined ? null : number.format(value))
const ms = (value: number | null | undefined) => (value === null || value === undefined ? null : duration.format(value))

const looks: Readonly<Record<CallStatus, readonly [Meaning, LucideIcon]>> = {
  RUNNING: ['info', Loader],
  SUCCEEDED: ['positive', CircleCheck],
  FAILED: ['danger', CircleAlert],
  REFUSED: ['warning', Ban],
  ABORTED: ['plain', OctagonX],
}

/** What became of a call. */
export function CallState({ status }: { readonly status: CallStatus }) {
  const [meaning, icon] = looks[status]
  return (
    <Status meaning={meaning} icon={icon}>
      {say(`call.${status}`)}
    </Status>
  )
}

/** One call beside its list: what was tried, what was used, what it cost. */
export function CallPanel({ id, back }: { readonly id: string; readonly back: string }) {
  const { data, state, problem, retry } = useRead(CallDetailDocument, { id })
  const call = data?.providerCall
  return (
    <Panel label={say('calls.one')} heading={call?.operation} back={back} state={data && !call ? 'error' : state} problem={problem} retry={retry}>
      {call && <Details call={call} />}
    </Panel>
  )
}

function Details({ call }: { readonly call: CallDetailsFragment }) {
  return (
    <>
      <div>
        <CallState status={call.status} />
      </div>
      {call.doubtful && (
        <Note meaning="warning" icon={CircleHelp}>
          {say('calls.doubtful')}
        </Note>
      )}
      <Facts
        of={[
          [say('calls.cost'), call.costMicros === null || call.costMicros === undefined ? null : dollars(call.costMicros)],
          [say('calls.model'), call.model],
          [say('calls.asked'), call.requestedModel],
          [say('calls.provider'), call.provider && providerTitle(call.provider)],
          [say('calls.app'), call.appId],
          [say('calls.person'), call.user?.name],
          [say('calls.input'), shown(call.inputTokens)],
          [say('calls.cached'), shown(call.cachedTokens)],
          [say('calls.cache-write'), shown(call.cacheWriteTokens)],
          [say('calls.output'), shown(call.outputTokens)],
          [say('calls.units'), shown(call.units)],
          [say('calls.latency'), ms(call.latencyMs)],
          [say('calls.first-byte'), ms(call.firstByteMs)],
          [say('calls.at'), moment(call.createdAt)],
        ]}
      />
      {call.attempts.length > 0 && (
        <>
          <h3>{say('calls.attempts')}</h3>
          <ol className="timeline">
            {call.attempts.map((attempt, at) => (
              <li key={`${at} ${attempt.provider}`} className={attempt.failure ? 'bad' : undefined}>
                <p>{[providerTitle(attempt.provider), attempt.model].filter(Boolean).join(' · ')}</p>
                <p className="quiet small">
                  {[attempt.status, ms(attempt.latencyMs), attempt.costMicros === null || attempt.costMicros === undefined ? null : dollars(attempt.costMicros)]
                    .filter(Boolean)
                    .join(' · ')}
                </p>
                {attempt.failure && <p className="small">{attempt.failure}</p>}
              </li>
            ))}
          </ol>
        </>
      )}
      {call.prompt && (
        <>
          <h3>{say('calls.prompt')}</h3>
          <p className="text" dir="auto">
            {call.prompt}
          </p>
        </>
      )}
    </>
  )
}
