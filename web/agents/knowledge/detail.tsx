import { CircleAlert, RotateCw } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Facts } from '../../design/parts/facts.tsx'
import { Note } from '../../design/parts/status.tsx'
import { goTo } from '../../shell/address.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { useRights } from '../../shell/frame/rights.ts'
import { Confirm } from '../../shell/parts/ask.tsx'
import { Panel } from '../../shell/parts/panel.tsx'
import { useRead } from '../../shell/read.ts'
import { Failure } from '../../shell/region.tsx'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { SourceForm } from './form.tsx'
import { DeleteKnowledgeSourceDocument, KnowledgeDetailDocument, type KnowledgeDetailsFragment, ReindexKnowledgeSourceDocument } from './knowledge.generated.ts'
import { KnowledgeState } from './state.tsx'

/** While a source is indexed its state is read anew so often, in ms. */
const againMs = 2000

/** One source beside the list, with its texts. @param reload reads the list anew */
export function KnowledgePanel({ id, back, reload }: { readonly id: string; readonly back: string; reload(): void }) {
  const mayWrite = useRights().may('agents:knowledge.write')
  const { data, state, problem, retry } = useRead(KnowledgeDetailDocument, { id })
  const source = data?.knowledgeSource
  const isUnderWay = source?.status === 'PENDING' || source?.status === 'INDEXING'
  useEffect(() => {
    if (!isUnderWay) return
    const timer = setInterval(retry, againMs)
    return () => clearInterval(timer)
  }, [isUnderWay])
  const documents = (source?.documents?.nodes ?? []).filter(each => each !== null)
  return (
    <Panel label={say('knowledge.one')} heading={source?.title} back={back} state={data && !source ? 'error' : state} problem={problem} retry={retry}>
      {source && (
        <>
          <div>
            <KnowledgeState status={source.status} />
          </div>
          {source.failure && (
            <Note meaning={source.status === 'FAILED' ? 'danger' : 'warning'} icon={CircleAlert}>
              {source.failure.message}
            </Note>
          )}
          {source.stale && (
            <Note meaning="warning" icon={CircleAlert}>
              {say('knowledge.stale')}
            </Note>
          )}
          {mayWrite && <Actions source={source} back={back} reload={reload} />}
          <Facts
            of={[
              [say('knowledge.kind'), say(`knowledge-kind.${source.kind}`)],
              [
                say('knowledge.url'),
                source.url && (
                  <a key="url" href={source.url} target="_blank" rel="noopener noreferrer">
                    {source.url}
                  </a>
                ),
              ],
              [say('knowledge.for'), say(`knowledge-for.${source.visibility}`)],
              [say('knowledge.language'), source.language],
              [say('knowledge.chunks'), source.chunks],
              [say('knowledge.indexed'), source.indexedAt && moment(source.indexedAt)],
              [say('knowledge.checked'), source.checkedAt && moment(source.checkedAt)],
            ]}
          />
          {documents.map(({ id: key, title, text }) => (
            <details key={key}>
              <summary>{title}</summary>
              <p className="text" dir="auto" lang={source.language ?? undefined}>
                {text}
              </p>
            </details>
          ))}
        </>
      )}
    </Panel>
  )
}

function Actions({ source, back, reload }: { readonly source: KnowledgeDetailsFragment; readonly back: string; reload(): void }) {
  const [asks, setAsks] = useState<'change' | 'delete' | null>(null)
  const [indexed, reindex] = useMutation(ReindexKnowledgeSourceDocument)
  const [deleted, remove] = useMutation(DeleteKnowledgeSourceDocument)
  const known = { id: source.id, expectedVersion: source.version }
  const problem = problemOf(indexed.error)
  async function end() {
    const { data } = await remove({ input: known })
    if (!data?.deleteKnowledgeSource) return
    reload()
    goTo(back, { replace: true })
  }
  return (
    <>
      <div className="actions">
        {source.kind === 'URL' && (
          <Button icon={RotateCw} isDisabled={indexed.fetching} onPress={() => void reindex({ input: known })}>
            {say('knowledge.reindex')}
          </Button>
        )}
        <Button onPress={() => setAsks('change')}>{say('knowledge.change')}</Button>
        <Button kind="danger" onPress={() => setAsks('delete')}>
          {say('knowledge.delete')}
        </Button>
      </div>
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      {asks === 'change' && <SourceForm source={source} onClose={() => setAsks(null)} />}
      {asks === 'delete' && (
        <Confirm
          title={say('knowledge.delete')}
          sentence={say('knowledge.delete-sentence', { title: source.title })}
          verb={say('knowledge.delete')}
          isBusy={deleted.fetching}
          problem={problemOf(deleted.error)}
          onConfirm={() => void end()}
          onClose={() => setAsks(null)}
        />
      )}
    </>
  )
}
