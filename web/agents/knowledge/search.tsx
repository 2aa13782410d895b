import { SearchX } from 'lucide-react'
import { Link } from '../../shell/address.tsx'
import { useRead } from '../../shell/read.ts'
import { Region } from '../../shell/region.tsx'
import { say } from '../../shell/words.ts'
import { KnowledgeSearchDocument } from './knowledge.generated.ts'

/** So much of a document is shown around a passage, in characters. */
const around = 160

/** The passages that answer a question, each in its place in the document. */
export function Hits({ question }: { readonly question: string }) {
  const { data, state, problem, retry } = useRead(
    KnowledgeSearchDocument,
    { query: question },
    { isEmpty: ({ searchKnowledge }) => searchKnowledge?.length === 0 },
  )
  return (
    <Region
      title={say('knowledge.passages')}
      aria-label={say('knowledge.passages')}
      state={state}
      problem={problem}
      retry={retry}
      empty={{ icon: SearchX, sentence: say('knowledge.no-passage') }}
    >
      <ol className="timeline">
        {(data?.searchKnowledge ?? []).map(({ document, start, end, quote }) => (
          <li key={`${document?.id} ${start}`}>
            <div className="grow">
              <p>{document?.source ? <Link to={`/knowledge/${document.source.id}`}>{document.title}</Link> : (document?.title ?? say('knowledge.hidden'))}</p>
              <p className="text" dir="auto">
                {document && <span className="quiet">{before(document.text, start)}</span>}
                <mark>{quote}</mark>
                {document && <span className="quiet">{after(document.text, end)}</span>}
              </p>
            </div>
          </li>
        ))}
      </ol>
    </Region>
  )
}

const before = (text: string, start: number): string => (start > around ? `…${text.slice(start - around, start)}` : text.slice(0, start))
const after = (text: string, end: number): string => (text.length > end + around ? `${text.slice(end, end + around)}…` : text.slice(end))
