import { Link2 } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Dialog } from '../../design/parts/dialog.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { Secret } from '../../shell/parts/secret.tsx'
import { Failure } from '../../shell/region.tsx'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { CreateApprovalLinkDocument, type CreateApprovalLinkMutation } from './approvals.generated.ts'

/** Makes an address by which somebody without an account decides once. It is shown this once. */
export function DecisionLink({ approvalId }: { readonly approvalId: string }) {
  const [{ error, fetching }, create] = useMutation(CreateApprovalLinkDocument)
  const [made, setMade] = useState<CreateApprovalLinkMutation['createApprovalLink']>(null)
  const problem = problemOf(error)
  async function act() {
    const { data } = await create({ input: { approvalId } })
    setMade(data?.createApprovalLink ?? null)
  }
  return (
    <>
      <div className="actions">
        <Button icon={Link2} isDisabled={fetching} onPress={() => void act()}>
          {say('approvals.link')}
        </Button>
      </div>
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      {made && (
        <Dialog title={say('approvals.link')} onClose={() => setMade(null)}>
          <Secret
            value={made.url}
            label={say('approvals.link')}
            once={say('approvals.link-once', { when: moment(made.expiresAt) })}
            onKept={() => setMade(null)}
          />
        </Dialog>
      )}
    </>
  )
}
