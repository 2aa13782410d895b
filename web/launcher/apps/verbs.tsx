import { ArrowUpRight, Clock, Download, HandHelping, Trash2, Undo2, Wrench } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Field } from '../../design/parts/field.tsx'
import { Status } from '../../design/parts/status.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { Link } from '../../shell/address.tsx'
import { useOnce } from '../../shell/data/draft.ts'
import { type Problem, problemOf } from '../../shell/data/problems.ts'
import { useRights } from '../../shell/frame/rights.ts'
import { Confirm, FormDialog } from '../../shell/parts/ask.tsx'
import { Failure } from '../../shell/region.tsx'
import { moment } from '../../shell/time.ts'
import { say, sayIfKnown } from '../../shell/words.ts'
import { type AppCardFragment, AskForAppDocument, InstallAppDocument, RemoveAppDocument, TakeBackRequestDocument } from './apps.generated.ts'

/** What is said of a refusal, in the page's language where the reason is known. */
export function refusalOf(error: Parameters<typeof problemOf>[0]): Problem | null {
  const problem = problemOf(error)
  return problem?.reason ? { ...problem, sentence: sayIfKnown(`apps.${problem.reason}`, problem.sentence) } : problem
}

/** Apps of the platform that the plan includes; no limit where it is null. */
export interface Plan {
  readonly limit: number | null
  readonly used: number
}

export interface VerbsProps {
  readonly app: AppCardFragment
  /** Null while it is unknown. */
  readonly plan: Plan | null
  /** Whether it is being opened. */
  readonly isOpening: boolean
  launch(app: string): Promise<void>
  reload(): void
}

/** How an app stands beside its title, where that is not plain from what may be done. */
export const AppStatus = ({ of: { status, statusUntil, accessRequest, installed } }: { readonly of: AppCardFragment }) => (
  <>
    {status === 'MAINTENANCE' && (
      <Status meaning="warning" icon={Wrench}>
        {statusUntil ? say('apps.maintenance-until', { when: moment(statusUntil) }) : say('apps.maintenance')}
      </Status>
    )}
    {!installed && accessRequest?.status === 'PENDING' && (
      <Status meaning="info" icon={Clock}>
        {say('apps.requested')}
      </Status>
    )}
  </>
)

/** What may be done with an app: opened, installed, or asked for. Limits of the plan are said in place of a button that would fail. */
export function Verbs({ app, plan, isOpening, launch, reload }: VerbsProps) {
  const { isPersonal, isKnown, may, roles } = useRights()
  const [installed, install] = useMutation(InstallAppDocument)
  const [withdrawn, withdraw] = useMutation(TakeBackRequestDocument)
  const [isAsking, setAsking] = useState(false)
  const refused = refusalOf(installed.error ?? withdrawn.error)
  const { title, accessRequest } = app
  const named = (key: string) => ({ 'aria-label': say('action.of', { action: say(key), name: title }), children: say(key) })
  const isBeyond = app.origin === 'PLATFORM' && !app.installed && plan !== null && plan.limit !== null && plan.used >= plan.limit
  const mayInstall = isPersonal || may('launcher:apps.write')
  const isManager = isPersonal || roles.some(role => role === 'OWNER' || role === 'ADMIN')
  async function add() {
    const { data } = await install({ input: { app: app.app } })
    reload()
    if (data?.installApp) toast({ sentence: say('apps.installed', { name: title }) })
  }
  // The launcher is in every catalogue, and installed nowhere.
  if (app.app === 'launcher') return <p className="quiet small">{say('apps.here')}</p>
  if (!app.launchable) return <p className="quiet small">{say(app.kind === 'TECHNICAL' ? 'apps.technical' : 'apps.retired')}</p>
  const limit = (
    <p className="quiet small">
      {say('apps.limit', { used: plan?.used ?? 0, limit: plan?.limit ?? 0 })} {isManager && <Link to="/settings/billing">{say('apps.change-plan')}</Link>}
    </p>
  )
  if (app.installed)
    return app.entitled ? (
      <div className="actions">
        <Button icon={ArrowUpRight} isDisabled={isOpening || app.status === 'MAINTENANCE'} onPress={() => void launch(app.app)} {...named('apps.open')} />
      </div>
    ) : (
      limit
    )
  if (isBeyond) return limit
  return (
    <>
      <div className="actions">
        {mayInstall && <Button icon={Download} isDisabled={installed.fetching} onPress={() => void add()} {...named('apps.install')} />}
        {isKnown && !mayInstall && accessRequest?.status !== 'PENDING' && <Button icon={HandHelping} onPress={() => setAsking(true)} {...named('apps.ask')} />}
        {!mayInstall && accessRequest?.status === 'PENDING' && (
          <Button
            kind="quiet"
            icon={Undo2}
            isDisabled={withdrawn.fetching}
            onPress={() =>
              void withdraw({ input: { id: accessRequest.id, expectedVersion: accessRequest.version } }).then(({ data }) => {
                reload()
                if (data?.withdrawAccessRequest) toast({ sentence: say('apps.taken-back', { name: title }) })
              })
            }
            {...named('apps.take-back')}
          />
        )}
      </div>
      {refused && <Failure sentence={refused.sentence} requestId={refused.requestId} />}
      {isAsking && <AskDialog app={app} onClose={() => setAsking(false)} onDone={reload} />}
    </>
  )
}

function AskDialog({ app: { app, title }, onClose, onDone }: { readonly app: AppCardFragment; onClose(): void; onDone(): void }) {
  const [{ error, fetching }, ask] = useMutation(AskForAppDocument)
  const [reason, setReason] = useState('')
  const idempotencyKey = useOnce()
  const problem = refusalOf(error)
  async function send() {
    const { data } = await ask({ input: { app, idempotencyKey, ...(reason.trim() !== '' && { reason: reason.trim() }) } })
    if (!data?.requestAccess) return
    toast({ sentence: say('apps.asked', { name: title }) })
    onDone()
    onClose()
  }
  return (
    <FormDialog
      title={say('action.of', { action: say('apps.ask'), name: title })}
      verb={say('apps.send')}
      isBusy={fetching}
      problem={problem}
      fields={['reason']}
      onDo={() => void send()}
      onClose={onClose}
    >
      <Field
        label={say('apps.reason')}
        value={reason}
        onChange={setReason}
        rows={3}
        hint={say('apps.reason-hint')}
        wrong={problem?.field === 'reason' ? problem.sentence : null}
      />
    </FormDialog>
  )
}

/** Removes an app from the context, after it was asked. */
export function Remove({ app: { app, title }, version, onDone }: { readonly app: AppCardFragment; readonly version: number; onDone(): void }) {
  const [{ error, fetching }, remove] = useMutation(RemoveAppDocument)
  const [asks, setAsks] = useState(false)
  return (
    <>
      <Button icon={Trash2} onPress={() => setAsks(true)} aria-label={say('action.of', { action: say('apps.remove'), name: title })}>
        {say('apps.remove')}
      </Button>
      {asks && (
        <Confirm
          title={say('apps.remove')}
          sentence={say('apps.remove-sure', { name: title })}
          verb={say('apps.remove')}
          isBusy={fetching}
          problem={refusalOf(error)}
          onClose={() => setAsks(false)}
          onConfirm={() =>
            void remove({ input: { app, expectedVersion: version } }).then(({ data }) => {
              onDone()
              if (!data?.uninstallApp) return
              setAsks(false)
              toast({ sentence: say('apps.removed', { name: title }) })
            })
          }
        />
      )}
    </>
  )
}
