import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Field } from '../../design/parts/field.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { useRights } from '../../shell/frame/rights.ts'
import { FormDialog } from '../../shell/parts/ask.tsx'
import { say } from '../../shell/words.ts'
import { type ApprovalDetailsFragment, type ApprovalVerdict, DecideApprovalDocument } from './approvals.generated.ts'

const order: readonly ApprovalVerdict[] = ['APPROVE', 'EDIT', 'RESPOND', 'REJECT']

/** The answers that an approval allows, for those who decide. @param again reads the approval anew @param reload reads the list anew */
export function Decide({ approval, again, reload }: { readonly approval: ApprovalDetailsFragment; again(): void; reload(): void }) {
  const mayDecide = useRights().may('agents:approvals.write')
  const [asks, setAsks] = useState<ApprovalVerdict | null>(null)
  if (approval.status !== 'PENDING' && asks === null) return null
  if (!mayDecide) return <p className="quiet">{say('approvals.not-yours')}</p>
  return (
    <>
      <div className="actions">
        {order
          .filter(each => approval.allowed.includes(each))
          .map(each => (
            <Button key={each} kind={each === 'APPROVE' ? 'primary' : each === 'REJECT' ? 'danger' : 'secondary'} onPress={() => setAsks(each)}>
              {say(`decide.${each}`)}
            </Button>
          ))}
      </div>
      {asks && <Answer key={asks} verdict={asks} approval={approval} again={again} reload={reload} onClose={() => setAsks(null)} />}
    </>
  )
}

interface AnswerProps {
  readonly verdict: ApprovalVerdict
  readonly approval: ApprovalDetailsFragment
  again(): void
  reload(): void
  onClose(): void
}

/** One answer. It is about the arguments as they stood when it was opened: others are refused by their hash. */
function Answer({ verdict, approval, again, reload, onClose }: AnswerProps) {
  const [argumentsHash] = useState(approval.argumentsHash)
  const [{ error, fetching }, decide] = useMutation(DecideApprovalDocument)
  const [text, setText] = useState(() => (verdict === 'EDIT' ? JSON.stringify(approval.arguments ?? {}, null, 2) : ''))
  const [comment, setComment] = useState('')
  const [isWrong, setWrong] = useState(false)
  const problem = problemOf(error)
  const said = problem?.reason === 'DECIDED' || problem?.reason === 'HASH_MISMATCH' ? { ...problem, sentence: say(`approvals.${problem.reason}`) } : problem
  async function act() {
    let edited: unknown
    try {
      if (verdict === 'EDIT') edited = JSON.parse(text)
    } catch {
      return setWrong(true)
    }
    if (verdict === 'RESPOND' && text.trim() === '') return setWrong(true)
    setWrong(false)
    const { data } = await decide({
      input: {
        ...{ id: approval.id, decision: verdict, argumentsHash },
        ...(verdict === 'EDIT' && { arguments: edited }),
        ...(verdict === 'RESPOND' && { response: text.trim() }),
        ...(comment.trim() && { comment: comment.trim() }),
      },
    })
    // Whoever is late sees who decided.
    if (!data?.decideApproval) return again()
    toast({ sentence: say(`decided.${verdict}`) })
    onClose()
    reload()
  }
  const field = verdict === 'EDIT' ? 'arguments' : 'response'
  const wrong = isWrong ? say(verdict === 'EDIT' ? 'workflows.no-json' : 'form.required') : problem?.field === field ? problem.sentence : null
  return (
    <FormDialog
      title={say(`decide.${verdict}`)}
      verb={say(`decide.${verdict}`)}
      isBusy={fetching}
      problem={said}
      fields={[field, 'comment']}
      onDo={() => void act()}
      onClose={onClose}
    >
      <p>{say(`decide-means.${verdict}`, { title: approval.title })}</p>
      {verdict === 'EDIT' && <Field label={say('approvals.arguments')} rows={10} value={text} onChange={setText} wrong={wrong} />}
      {verdict === 'RESPOND' && <Field label={say('approvals.response')} rows={4} value={text} onChange={setText} wrong={wrong} />}
      <Field label={say('approvals.comment')} rows={2} value={comment} onChange={setComment} wrong={problem?.field === 'comment' ? problem.sentence : null} />
    </FormDialog>
  )
}
