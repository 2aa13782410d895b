import { CircleAlert, Quote } from 'lucide-react'
import { Icon } from '../../design/parts/icon.tsx'
import { Note } from '../../design/parts/status.tsx'
import { Link } from '../../shell/address.tsx'
import { lately, moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import type { MessageFragment } from './conversations.generated.ts'

/** What somebody said: of a reply also how it was found, what it rests on, and what broke it off. @param agent the agent's name */
export function Message({ message, agent }: { readonly message: MessageFragment; readonly agent: string }) {
  const { id, role, text, notice, status, failure, sources, createdAt } = message
  const isReply = role === 'AGENT'
  return (
    <li data-message={id} data-role={role} data-status={status} aria-busy={status === 'STREAMING' ? true : undefined}>
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
        <p className="quiet small" role="status">
          {say('conversations.writing', { name: agent })}
        </p>
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
