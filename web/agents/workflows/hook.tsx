import { Eye, RotateCw } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Dialog } from '../../design/parts/dialog.tsx'
import { Facts } from '../../design/parts/facts.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { Confirm } from '../../shell/parts/ask.tsx'
import { Copyable, Secret } from '../../shell/parts/secret.tsx'
import { useRead } from '../../shell/read.ts'
import { Region } from '../../shell/region.tsx'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { RotateWorkflowHookDocument, type WorkflowDetailsFragment, WorkflowHookDocument } from './workflows.generated.ts'

/** The address whose calls begin runs. It is a secret, so it is read only on demand; its signing secret is shown once. */
export function Hook({ workflow }: { readonly workflow: WorkflowDetailsFragment }) {
  const { id, version } = workflow
  const [isShown, setShown] = useState(false)
  const [rotates, setRotates] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  const { data, state, problem, retry } = useRead(WorkflowHookDocument, { id }, { pause: !isShown })
  const [{ error, fetching }, rotate] = useMutation(RotateWorkflowHookDocument)
  const hook = data?.workflow?.hook
  const isSigned = workflow.trigger?.signed ?? false
  async function act() {
    const { data: rotated } = await rotate({ input: { id, expectedVersion: version } })
    if (!rotated?.rotateWorkflowHook) return
    setRotates(false)
    setShown(true)
    setSecret(rotated.rotateWorkflowHook.secret)
    toast({ sentence: say('hook.rotated') })
  }
  return (
    <Region title={say('hook.title')} state={isShown ? state : 'ready'} problem={problem} retry={retry} lines={2} data-hook={id}>
      <p className="quiet">{say(isSigned ? 'hook.signed' : 'hook.unsigned')}</p>
      {hook && (
        <Facts
          of={[
            [say('hook.address'), <Copyable key="url" text={hook.url} />],
            [say('hook.made'), moment(hook.createdAt)],
          ]}
        />
      )}
      <div className="actions">
        {!isShown && (
          <Button icon={Eye} onPress={() => setShown(true)}>
            {say('hook.show')}
          </Button>
        )}
        <Button icon={RotateCw} onPress={() => setRotates(true)}>
          {say(isSigned ? 'hook.rotate-signed' : 'hook.rotate')}
        </Button>
      </div>
      {rotates && (
        <Confirm
          title={say(isSigned ? 'hook.rotate-signed' : 'hook.rotate')}
          sentence={say('hook.rotate-sentence')}
          verb={say(isSigned ? 'hook.rotate-signed' : 'hook.rotate')}
          isBusy={fetching}
          problem={problemOf(error)}
          onConfirm={() => void act()}
          onClose={() => setRotates(false)}
        />
      )}
      {secret !== null && (
        <Dialog title={say('hook.secret')} onClose={() => setSecret(null)}>
          <Secret value={secret} label={say('hook.secret')} once={say('hook.secret-once')} onKept={() => setSecret(null)} />
        </Dialog>
      )}
    </Region>
  )
}
