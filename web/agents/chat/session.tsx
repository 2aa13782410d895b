import { Flag, ThumbsDown, ThumbsUp } from 'lucide-react'
import { Status } from '../../design/parts/status.tsx'
import { Panel } from '../../shell/parts/panel.tsx'
import { useRead } from '../../shell/read.ts'
import { lately, moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { ChatSessionDetailDocument } from './chat.generated.ts'

/** What one visitor asked and was answered, with the visitor's verdicts. */
export function SessionPanel({ id, back }: { readonly id: string; readonly back: string }) {
  const { data, state, problem, retry } = useRead(ChatSessionDetailDocument, { id })
  const session = data?.chatSession
  return (
    <Panel
      label={say('chat.session')}
      heading={session && moment(session.startedAt)}
      back={back}
      state={data && !session ? 'error' : state}
      problem={problem}
      retry={retry}
    >
      {session && (
        <ol className="said" aria-label={say('conversations.messages')}>
          {(session.turns ?? []).map(({ id: key, role, text, at, flagged, helpful, comment, sources }) => (
            <li key={key} data-role={role}>
              <p className="small quiet">
                <strong>{role === 'AGENT' ? session.persona : say('chat.visitor')}</strong> <time dateTime={at}>{lately(at)}</time>
              </p>
              <p className="text" dir="auto">
                {text}
              </p>
              {(sources ?? []).map(({ documentId, title, url }) => (
                <p key={documentId} className="small">
                  {url ? (
                    <a href={url} target="_blank" rel="noopener noreferrer">
                      {title}
                    </a>
                  ) : (
                    title
                  )}
                </p>
              ))}
              {flagged && (
                <Status meaning="warning" icon={Flag}>
                  {say('chat.flagged')}
                </Status>
              )}
              {typeof helpful === 'boolean' && (
                <Status meaning={helpful ? 'positive' : 'danger'} icon={helpful ? ThumbsUp : ThumbsDown}>
                  {say(helpful ? 'chat.helpful' : 'chat.unhelpful')}
                </Status>
              )}
              {comment && <p dir="auto">{`“${comment}”`}</p>}
            </li>
          ))}
        </ol>
      )}
    </Panel>
  )
}
