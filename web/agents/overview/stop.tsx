import { OctagonX } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Field } from '../../design/parts/field.tsx'
import { Note } from '../../design/parts/status.tsx'
import { usePath } from '../../shell/address.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { useRights } from '../../shell/frame/rights.ts'
import { FormDialog } from '../../shell/parts/ask.tsx'
import { useRead } from '../../shell/read.ts'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { AgentsOverviewDocument } from './overview.generated.ts'
import { KillSwitchDocument, type KillSwitchQuery, SetKillSwitchDocument } from './stop.generated.ts'

/** Whether all work is stopped, as far as this person may know. The overview asks for it with all that it shows. */
function useKillSwitch() {
  const { may } = useRights()
  const document = usePath() === '/overview' ? AgentsOverviewDocument : KillSwitchDocument
  const { data } = useRead<KillSwitchQuery, Record<string, never>>(document, {}, { pause: !may('agents:workspace.read') })
  return data?.operatingWorkspace?.killSwitch ?? null
}

/** Says on every page that all work is stopped, since when and why. */
export function StoppedNote() {
  const found = useKillSwitch()
  if (!found?.engaged) return null
  return (
    <div role="status">
      <Note meaning="danger" icon={OctagonX}>
        {[say('stop.engaged', { when: found.at ? moment(found.at) : '–', name: found.user?.name ?? '–' }), found.reason].filter(Boolean).join(' ')}
      </Note>
    </div>
  )
}

/** Stops all work at once, or lets it go on; for owners and admins of the organization. */
export function StopButton() {
  const { may, roles } = useRights()
  const found = useKillSwitch()
  const [asks, setAsks] = useState(false)
  const [reason, setReason] = useState('')
  const [{ error, fetching }, set] = useMutation(SetKillSwitchDocument)
  if (!found || !may('agents:agents.write') || !roles.some(role => role === 'OWNER' || role === 'ADMIN')) return null
  const problem = problemOf(error)
  const verb = say(found.engaged ? 'stop.release' : 'stop.engage')
  async function act() {
    const { data } = await set({ input: { engaged: !found!.engaged, ...(!found!.engaged && reason.trim() && { reason: reason.trim() }) } })
    if (!data?.setKillSwitch) return
    setReason('')
    setAsks(false)
  }
  return (
    <>
      <Button kind={found.engaged ? 'secondary' : 'danger'} icon={OctagonX} onPress={() => setAsks(true)}>
        {verb}
      </Button>
      {asks && (
        <FormDialog title={verb} verb={verb} isBusy={fetching} problem={problem} fields={['reason']} onDo={() => void act()} onClose={() => setAsks(false)}>
          <p>{say(found.engaged ? 'stop.release-sentence' : 'stop.engage-sentence')}</p>
          {!found.engaged && (
            <Field label={say('stop.reason')} value={reason} onChange={setReason} wrong={problem?.field === 'reason' ? problem.sentence : null} />
          )}
        </FormDialog>
      )}
    </>
  )
}
