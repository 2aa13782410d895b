import { Button } from '../../design/parts/button.tsx'
import { Dialog } from '../../design/parts/dialog.tsx'
import { useRead } from '../../shell/read.ts'
import { Region } from '../../shell/region.tsx'
import { say } from '../../shell/words.ts'
import { SourceTextDocument } from './profiles.generated.ts'

/** The text of a source, as the profile learns from it. */
export function SourceText({ id, title, onClose }: { readonly id: string; readonly title: string; onClose(): void }) {
  const { data, state, problem, retry } = useRead(SourceTextDocument, { id })
  const source = data?.profileSource
  return (
    <Dialog title={title} onClose={onClose}>
      <Region state={data && !source ? 'error' : state} problem={problem} retry={retry}>
        {source?.url && (
          <p>
            <a href={source.url} target="_blank" rel="noopener noreferrer">
              {source.url}
            </a>
          </p>
        )}
        <p className="text" dir="auto" lang={source?.language ?? undefined}>
          {source?.text}
        </p>
      </Region>
      <div className="actions">
        <Button onPress={onClose}>{say('action.close')}</Button>
      </div>
    </Dialog>
  )
}
