import { useState } from 'react'
import { useMutation } from 'urql'
import { Field } from '../../design/parts/field.tsx'
import { Select } from '../../design/parts/select.tsx'
import { goTo, Link } from '../../shell/address.tsx'
import { useOnce } from '../../shell/data/draft.ts'
import { problemOf } from '../../shell/data/problems.ts'
import { FormDialog } from '../../shell/parts/ask.tsx'
import { useRead } from '../../shell/read.ts'
import { say } from '../../shell/words.ts'
import { ConversationAgentsDocument, CreateConversationDocument } from './conversations.generated.ts'

/** Begins a conversation with one of the agents that answer. @param reload reads the list anew */
export function NewConversation({ reload, onClose }: { reload(): void; onClose(): void }) {
  const idempotencyKey = useOnce()
  const { data, state } = useRead(ConversationAgentsDocument, {})
  const [{ error, fetching }, create] = useMutation(CreateConversationDocument)
  const [chosen, setAgent] = useState('')
  const [title, setTitle] = useState('')
  const problem = problemOf(error)
  const agents = (data?.agents?.nodes ?? []).flatMap(each => (each ? [{ id: each.id, name: each.name }] : []))
  const agentId = chosen || (agents[0]?.id ?? '')
  async function save() {
    if (agentId === '') return
    const answer = await create({ input: { agentId, ...(title.trim() && { title: title.trim() }), idempotencyKey } })
    const made = answer.data?.createConversation
    if (!made) return
    reload()
    goTo(`/conversations/${made.id}`)
  }
  return (
    <FormDialog
      title={say('conversations.create')}
      verb={say('conversations.create')}
      isBusy={fetching || agentId === ''}
      problem={problem}
      fields={['title']}
      onDo={() => void save()}
      onClose={onClose}
    >
      {state === 'ready' && agents.length === 0 ? (
        <p>
          {say('conversations.no-agent')} <Link to="/agents?new=agent">{say('agents.create')}</Link>
        </p>
      ) : (
        <Select label={say('agents.one')} choices={agents} value={agentId} onChange={setAgent} />
      )}
      <Field
        label={say('conversations.name')}
        value={title}
        onChange={setTitle}
        hint={say('conversations.name-hint')}
        wrong={problem?.field === 'title' ? problem.sentence : null}
      />
    </FormDialog>
  )
}
