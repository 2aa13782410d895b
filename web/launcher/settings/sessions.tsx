import { AppWindow, LogOut, Monitor, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { Status } from '../../design/parts/status.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { Confirm } from '../../shell/parts/ask.tsx'
import { useRead } from '../../shell/read.ts'
import { Failure, Region } from '../../shell/region.tsx'
import { lately, moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { deviceOf } from './device.ts'
import { EndConsentDocument, EndOtherSessionsDocument, EndSessionDocument, type SessionLineFragment, SessionsDocument } from './sessions.generated.ts'
import { SettingsPage } from './tabs.tsx'

/** Where the person is signed in, and which applications may act for them. */
export default function Sessions() {
  const { data, state, problem, retry } = useRead(SessionsDocument, {})
  const [ended, endOthers] = useMutation(EndOtherSessionsDocument)
  const [revoked, revoke] = useMutation(EndConsentDocument)
  const [asks, setAsks] = useState(false)
  const refused = problemOf(ended.error ?? revoked.error)
  const sessions = (data?.sessions ?? []).flatMap(each => each ?? [])
  const consents = (data?.consents ?? []).flatMap(each => each ?? [])
  return (
    <SettingsPage>
      <Region
        title={say('settings.sessions-title')}
        tools={
          sessions.length > 1 && (
            <Button icon={LogOut} onPress={() => setAsks(true)}>
              {say('settings.end-others')}
            </Button>
          )
        }
        state={state}
        problem={problem}
        retry={retry}
        lines={3}
      >
        <ul className="list">
          {sessions.map(each => (
            <SessionLine key={each.id} session={each} reload={retry} />
          ))}
        </ul>
        {refused && <Failure sentence={refused.sentence} requestId={refused.requestId} />}
      </Region>
      {consents.length > 0 && (
        <Region title={say('settings.consents')} state="ready">
          <ul className="list">
            {consents.map(({ id, clientName, grantedAt }) => (
              <li key={id}>
                <Icon of={AppWindow} large />
                <div className="grow">
                  <p className="clip">{clientName}</p>
                  <p className="quiet small">{moment(grantedAt)}</p>
                </div>
                <Button
                  kind="quiet"
                  icon={Trash2}
                  isDisabled={revoked.fetching}
                  name={say('settings.consent-end', { name: clientName })}
                  onPress={() => void revoke({ input: { id } }).then(answer => !answer.error && retry())}
                />
              </li>
            ))}
          </ul>
        </Region>
      )}
      {asks && (
        <Confirm
          title={say('settings.end-others')}
          sentence={say('settings.end-others-sure')}
          verb={say('settings.end-others')}
          isBusy={ended.fetching}
          onClose={() => setAsks(false)}
          onConfirm={() =>
            void endOthers({ input: { keepCurrent: true } }).then(answer => {
              setAsks(false)
              if (answer.error) return
              toast({ sentence: say('settings.others-ended') })
              retry()
            })
          }
        />
      )}
    </SettingsPage>
  )
}

function SessionLine({ session, reload }: { readonly session: SessionLineFragment; reload(): void }) {
  const [{ error, fetching }, end] = useMutation(EndSessionDocument)
  const problem = problemOf(error)
  const device = deviceOf(session.userAgent ?? '')
  const told = device ? say('settings.session-device', device) : session.userAgent
  const name = session.clientName ?? told ?? say(`settings.session-${session.kind}`)
  async function finish() {
    const { data } = await end({ input: { id: session.id } })
    if (!data?.revokeSession) return
    toast({ sentence: say('settings.session-ended') })
    reload()
  }
  return (
    <li>
      <Icon of={Monitor} large />
      <div className="grow">
        <p className="clip" title={session.userAgent ?? undefined}>
          {name}
        </p>
        <p className="quiet small" title={moment(session.lastActiveAt)}>
          {[say(`settings.session-${session.kind}`), session.ipAddress, say('settings.session-active', { when: lately(session.lastActiveAt) })]
            .filter(Boolean)
            .join(' · ')}
        </p>
        {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      </div>
      {session.current ? (
        <Status meaning="positive" icon={Monitor}>
          {say('settings.session-now')}
        </Status>
      ) : (
        <Button kind="quiet" icon={Trash2} isDisabled={fetching} onPress={() => void finish()} aria-label={say('settings.session-end-named', { name })}>
          {say('settings.session-end')}
        </Button>
      )}
    </li>
  )
}
