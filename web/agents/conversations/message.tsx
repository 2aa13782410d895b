import { CircleAlert, Quote, Square } from 'lucide-react'
import { useRef } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { Note } from '../../design/parts/status.tsx'
import { Link } from '../../shell/address.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { Failure } from '../../shell/region.tsx'
import { lately, moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { type MessageFragment, StopReplyDocument } from './conversations.generated.ts'

export interface MessageProps {
  readonly message: MessageFragment
  /** The agent's name. */
  readonly agent: string
  /** Takes what a reply is once it was stopped; null for who may not stop it. */
  readonly take: ((message: MessageFragment) => void) | null
}

/** What somebody said: of a reply also how it was found, what it rests on, and what broke it off. */
export function Message({ message, agent, take }: MessageProps) {
  const own = useRef<HTMLLIElement>(null)
  const { id, role, text, notice, status, failure, sources, createdAt } = message
  const isReply = role === 'AGENT'
  return (
    <li ref={own} tabIndex={-1} data-message={id} data-role={role} data-status={status} aria-busy={status === 'STREAMING' ? true : undefined}>
      <p className="small quiet">
        <strong>{isReply ? agent : say('conversations.person')}</strong>{' '}
        <time dateTime={createdAt} title={moment(createdAt)}>
          {lately(createdAt)}
        </time>
      </p>
      {text && (
        <p className="text" dir="auto">
          {text}
        </p>
      )}
      {status === 'STREAMING' && (
        <div className="actions">
          <p className="quiet small" role="status">
            {say('conversations.writing', { name: agent })}
          </p>
          {take && <Stop id={id} take={take} leave={() => own.current?.focus()} />}
        </div>
      )}
      {failure && (
        <Note meaning="danger" icon={CircleAlert}>
          {failure.message}
        </Note>
      )}
      {notice && <p className="quiet small">{notice}</p>}
      {status === 'COMPLETE' && sources && sources.length > 0 && (
        <details>
          <summary>{say('conversations.sources', { count: sources.length })}</summary>
          <ul className="list">
            {sources.map(({ document, quote, start }) => (
              <li key={`${document?.id} ${start}`}>
                <Icon of={Quote} />
                <div className="grow">
                  {document?.source ? <Link to={`/knowledge/${document.source.id}`}>{document.title}</Link> : (document?.title ?? say('knowledge.hidden'))}
                  <p className="small" dir="auto">
                    {quote}
                  </p>
                </div>
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  )
}

/** Ends a reply that is being written, with what there is. @param leave moves the focus on before the button goes */
function Stop({ id, take, leave }: { readonly id: string; take(message: MessageFragment): void; leave(): void }) {
  const [{ error, fetching }, stop] = useMutation(StopReplyDocument)
  const problem = problemOf(error)
  async function act() {
    const { data } = await stop({ input: { id } })
    if (!data?.stopReply) return
    leave()
    take(data.stopReply)
  }
  return (
    <>
      <Button icon={Square} isDisabled={fetching} onPress={() => void act()}>
        {say('conversations.stop')}
      </Button>
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
    </>
  )
}
