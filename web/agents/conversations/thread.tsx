import { type FormEvent, type KeyboardEvent, useEffect, useState } from 'react'
import { useMutation, useSubscription } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Field } from '../../design/parts/field.tsx'
import { Link } from '../../shell/address.tsx'
import { useDraft } from '../../shell/data/draft.ts'
import { problemOf } from '../../shell/data/problems.ts'
import { useRights } from '../../shell/frame/rights.ts'
import { Panel } from '../../shell/parts/panel.tsx'
import { useRead } from '../../shell/read.ts'
import { Failure } from '../../shell/region.tsx'
import { say } from '../../shell/words.ts'
import {
  ConversationDetailDocument,
  LaterMessagesDocument,
  MessageChangesDocument,
  type MessageFragment,
  SendMessageDocument,
} from './conversations.generated.ts'
import { Message } from './message.tsx'

/** One conversation beside the list. Replies grow as they are written; what stands above them does not move. */
export function ConversationPanel({ id, back }: { readonly id: string; readonly back: string }) {
  const mayWrite = useRights().may('agents:runs.invoke')
  const { data, state, problem, retry } = useRead(ConversationDetailDocument, { id })
  const [fresh, setFresh] = useState<readonly MessageFragment[]>([])
  const [{ data: changed }] = useSubscription({ query: MessageChangesDocument, variables: { conversationId: id } })
  const conversation = data?.conversation
  const take = (message: MessageFragment) => setFresh(before => withLatest(before, message))
  const news = changed?.conversationMessageUpdated
  useEffect(() => {
    if (news) take(news)
  }, [news])
  const known = (conversation?.messages?.nodes ?? []).filter(each => each !== null)
  const next = conversation?.messages?.pageInfo.hasNextPage ? conversation.messages.pageInfo.endCursor : null
  return (
    <Panel
      label={say('conversations.one')}
      heading={conversation?.title}
      back={back}
      state={data && !conversation ? 'error' : state}
      problem={problem}
      retry={retry}
    >
      {conversation && (
        <>
          {conversation.agent && (
            <p className="quiet">
              {say('conversations.with')} <Link to={`/agents/${conversation.agent.id}`}>{conversation.agent.name}</Link>
            </p>
          )}
          <ol className="said" aria-label={say('conversations.messages')}>
            <Messages
              id={id}
              known={known}
              next={next ?? null}
              fresh={fresh}
              agent={conversation.agent?.name ?? say('agents.one')}
              take={mayWrite ? take : null}
            />
            {known.length + fresh.length === 0 && <li className="quiet">{say('conversations.nothing-said')}</li>}
          </ol>
          {mayWrite && <Say id={id} take={take} />}
        </>
      )}
    </Panel>
  )
}

/** Puts a message in place of what was known of it. The answer to a stop overtakes events of the text that grew before: what has ended stays so. */
function withLatest(before: readonly MessageFragment[], message: MessageFragment): readonly MessageFragment[] {
  const known = before.find(each => each.id === message.id)
  if (known && known.status !== 'STREAMING' && message.status === 'STREAMING') return before
  return [...before.filter(each => each !== known), message]
}

interface MessagesProps {
  readonly id: string
  readonly known: readonly MessageFragment[]
  /** Where the page after these begins; null on the last one. */
  readonly next: string | null
  /** What was told or sent since the page opened. */
  readonly fresh: readonly MessageFragment[]
  readonly agent: string
  /** Takes what a stopped reply is; null for who may not stop one. */
  readonly take: ((message: MessageFragment) => void) | null
}

/** A page of messages, and those after it; what was told since stands where it was said. */
function Messages({ id, known, next, fresh, agent, take }: MessagesProps) {
  const told = new Map(fresh.map(each => [each.id, each]))
  const own = new Set(known.map(each => each.id))
  const rest = next === null ? fresh.filter(each => !own.has(each.id)).toSorted((a, b) => a.createdAt.localeCompare(b.createdAt)) : []
  return (
    <>
      {[...known.map(each => told.get(each.id) ?? each), ...rest].map(each => (
        <Message key={each.id} message={each} agent={agent} take={take} />
      ))}
      {next !== null && <Later id={id} after={next} fresh={fresh.filter(each => !own.has(each.id))} agent={agent} take={take} />}
    </>
  )
}

function Later({ id, after, fresh, agent, take }: Pick<MessagesProps, 'id' | 'fresh' | 'agent' | 'take'> & { readonly after: string }) {
  const { data, problem, retry } = useRead(LaterMessagesDocument, { id, after })
  const messages = data?.conversation?.messages
  if (problem && !messages)
    return (
      <li>
        <Failure sentence={problem.sentence} requestId={problem.requestId} retry={retry} />
      </li>
    )
  if (!messages) return <li className="bone tall" />
  const known = (messages.nodes ?? []).filter(each => each !== null)
  return (
    <Messages
      id={id}
      known={known}
      next={messages.pageInfo.hasNextPage ? (messages.pageInfo.endCursor ?? null) : null}
      fresh={fresh}
      agent={agent}
      take={take}
    />
  )
}

/** Says something to the agent: Enter sends, Shift and Enter begins a line. */
function Say({ id, take }: { readonly id: string; take(message: MessageFragment): void }) {
  const [{ error, fetching }, send] = useMutation(SendMessageDocument)
  const [{ text, idempotencyKey }, setDraft, forget] = useDraft('message', { text: '', idempotencyKey: '' })
  const problem = problemOf(error)
  async function act(event?: FormEvent) {
    event?.preventDefault()
    if (text.trim() === '' || fetching) return
    const { data } = await send({ input: { conversationId: id, text: text.trim(), idempotencyKey } })
    if (!data?.sendMessage) return
    take(data.sendMessage)
    setDraft({ text: '', idempotencyKey: '' })
    forget()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    void act()
  }
  return (
    <form className="form" onSubmit={event => void act(event)} onKeyDown={onKeyDown} noValidate>
      <Field
        label={say('conversations.message')}
        rows={3}
        value={text}
        // The key belongs to the text: sent again after a failure it says the same thing once.
        onChange={value => setDraft({ text: value, idempotencyKey: crypto.randomUUID() })}
        hint={say('conversations.message-hint')}
        wrong={problem?.field === 'text' ? problem.sentence : null}
      />
      {problem && problem.field !== 'text' && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      <div className="actions">
        <Button kind="primary" type="submit" isDisabled={fetching}>
          {say('conversations.send')}
        </Button>
      </div>
    </form>
  )
}
