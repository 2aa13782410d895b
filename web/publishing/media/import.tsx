import { Link2 } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Dialog } from '../../design/parts/dialog.tsx'
import { Field } from '../../design/parts/field.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { say } from '../../shell/words.ts'
import { ImportAssetDocument } from './media.generated.ts'
import type { Destination } from './transfer.ts'

/** Fetches a picture or film from a public address into the library. */
export function ImportButton({ destination: { brandId, folderId }, onDone }: { readonly destination: Destination; onDone(): void }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button icon={Link2} onPress={() => setOpen(true)}>
        {say('media.import')}
      </Button>
      {isOpen && (
        <ImportDialog
          brandId={brandId}
          folderId={folderId}
          onClose={() => setOpen(false)}
          onDone={() => {
            setOpen(false)
            onDone()
          }}
        />
      )}
    </>
  )
}

function ImportDialog({ brandId, folderId, onClose, onDone }: Destination & { onClose(): void; onDone(): void }) {
  const [url, setUrl] = useState('')
  const [{ error, fetching }, fetchIt] = useMutation(ImportAssetDocument)
  const [idempotencyKey] = useState(() => crypto.randomUUID())
  const problem = problemOf(error)
  async function save(event: FormEvent) {
    event.preventDefault()
    const answer = await fetchIt({ input: { brandId, url: url.trim(), ...(folderId !== null && { folderId }), idempotencyKey } })
    if (!answer.error) onDone()
  }
  return (
    <Dialog title={say('media.import')} onClose={onClose}>
      <form className="form" onSubmit={event => void save(event)}>
        <Field
          label={say('media.import-address')}
          type="url"
          value={url}
          onChange={setUrl}
          hint={say('media.import-hint')}
          wrong={problem?.sentence}
          required
        />
        <div className="actions">
          <Button onPress={onClose}>{say('action.cancel')}</Button>
          <Button kind="primary" type="submit" isDisabled={fetching || !URL.canParse(url.trim())}>
            {say('media.import')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
