import { CircleAlert, CircleCheck, Clock, ListChecks, RefreshCw, Unplug } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Dialog } from '../../design/parts/dialog.tsx'
import { Status } from '../../design/parts/status.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { useRights } from '../../shell/frame/rights.ts'
import { Confirm } from '../../shell/parts/ask.tsx'
import { Failure } from '../../shell/region.tsx'
import { lately } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import {
  type AccountLineFragment,
  type AccountPlacesFragment,
  CheckAccountDocument,
  ChooseTargetsDocument,
  DisconnectAccountDocument,
} from './integrations.generated.ts'

const healths = {
  HEALTHY: ['positive', CircleCheck],
  EXPIRING: ['warning', Clock],
  NEEDS_RECONNECT: ['danger', CircleAlert],
  NEEDS_SELECTION: ['warning', CircleAlert],
} as const

/** One connected account: how it does, where its posts may go, and its end. */
export function AccountLine({ account, targets }: { readonly account: AccountLineFragment; readonly targets: AccountPlacesFragment['targets'] }) {
  const { id, accountName, health, inactiveReason, lastCheckedAt, active, version } = account
  const mayWrite = useRights().may('publishing:accounts.write')
  const [checked, check] = useMutation(CheckAccountDocument)
  const [ended, disconnect] = useMutation(DisconnectAccountDocument)
  const [asks, setAsks] = useState<'targets' | 'disconnect' | null>(null)
  const [meaning, icon] = healths[health]
  const problem = problemOf(checked.error ?? ended.error)
  return (
    <li className="account">
      <div className="grow">
        <p className="clip">{accountName}</p>
        <p className="quiet small">
          {inactiveReason ?? (lastCheckedAt ? say('integrations.checked', { when: lately(lastCheckedAt) }) : say('integrations.unchecked'))}
        </p>
        {problem && <p className="small">{problem.sentence}</p>}
      </div>
      <Status meaning={meaning} icon={icon}>
        {say(`health.${health}`)}
      </Status>
      {mayWrite && targets.length > 0 && (
        <Button kind="quiet" icon={ListChecks} name={say('integrations.targets-of', { account: accountName })} onPress={() => setAsks('targets')} />
      )}
      {mayWrite && (
        <Button
          kind="quiet"
          icon={RefreshCw}
          isDisabled={checked.fetching}
          name={say('integrations.check', { account: accountName })}
          onPress={() => void check({ input: { id } })}
        />
      )}
      {mayWrite && active && (
        <Button kind="quiet" icon={Unplug} name={say('integrations.disconnect-named', { account: accountName })} onPress={() => setAsks('disconnect')} />
      )}
      {asks === 'targets' && <Targets account={account} targets={targets} onClose={() => setAsks(null)} />}
      {asks === 'disconnect' && (
        <Confirm
          title={say('integrations.disconnect')}
          sentence={say('integrations.disconnect-sure', { account: accountName })}
          verb={say('integrations.disconnect')}
          isBusy={ended.fetching}
          onClose={() => setAsks(null)}
          onConfirm={() =>
            void disconnect({ input: { id, expectedVersion: version } }).then(({ data }) => {
              setAsks(null)
              if (data?.disconnectConnection) toast({ sentence: say('integrations.disconnected', { account: accountName }) })
            })
          }
        />
      )}
    </li>
  )
}

/** Chooses the pages and groups that posts of an account may go to, and the one that takes those that name none. */
function Targets({
  account,
  targets,
  onClose,
}: {
  readonly account: AccountLineFragment
  readonly targets: AccountPlacesFragment['targets']
  onClose(): void
}) {
  const [{ error, fetching }, choose] = useMutation(ChooseTargetsDocument)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(targets.flatMap(each => (each.selected ? [each.externalId] : []))))
  const [standard, setStandard] = useState(targets.find(({ isDefault }) => isDefault)?.externalId ?? null)
  const problem = problemOf(error)
  const given = ({ kind, externalId }: (typeof targets)[number]) => ({ kind, externalId })
  async function save() {
    const kept = targets.filter(({ externalId }) => chosen.has(externalId))
    const first = kept.find(({ externalId }) => externalId === standard)
    const { data } = await choose({
      input: { id: account.id, targets: kept.map(given), ...(first && { default: given(first) }), expectedVersion: account.version },
    })
    if (!data?.selectConnectionTargets) return
    toast({ sentence: say('integrations.targets-saved') })
    onClose()
  }
  return (
    <Dialog title={say('integrations.targets-of', { account: account.accountName })} onClose={onClose}>
      <ul className="choices">
        {targets.map(({ externalId, name, available, reason }) => (
          <li key={externalId} className="account">
            <label className="grow">
              <input
                type="checkbox"
                disabled={!available}
                checked={chosen.has(externalId)}
                onChange={event => setChosen(event.target.checked ? new Set([...chosen, externalId]) : chosen.difference(new Set([externalId])))}
              />
              <span>
                {name}
                {!available && reason && <span className="quiet small"> {reason}</span>}
              </span>
            </label>
            {chosen.has(externalId) && (
              <label className="small">
                <input type="radio" name="standard" checked={standard === externalId} onChange={() => setStandard(externalId)} />
                {say('integrations.standard')}
              </label>
            )}
          </li>
        ))}
      </ul>
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      <div className="actions">
        <Button onPress={onClose}>{say('action.cancel')}</Button>
        <Button kind="primary" isDisabled={fetching} onPress={() => void save()}>
          {say('action.save')}
        </Button>
      </div>
    </Dialog>
  )
}
