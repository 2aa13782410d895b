import { Folder, FolderPlus, Home, Pencil, Trash2 } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Dialog } from '../../design/parts/dialog.tsx'
import { Field } from '../../design/parts/field.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { goTo, Link, useSearch, withSearch } from '../../shell/address.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { useRead } from '../../shell/read.ts'
import { Failure } from '../../shell/region.tsx'
import { say } from '../../shell/words.ts'
import { CreateFolderDocument, DeleteFolderDocument, type MediaFolderFieldsFragment, MediaFoldersDocument, RenameFolderDocument } from './media.generated.ts'

/** Where one is in the library, and the folders within that. */
export function Folders({ brandId, folderId, mayWrite }: { readonly brandId: string; readonly folderId: string | null; readonly mayWrite: boolean }) {
  const search = useSearch()
  const { data, retry } = useRead(MediaFoldersDocument, { brandId })
  const [asks, setAsks] = useState<'new' | 'rename' | 'delete' | null>(null)
  const folders = data?.mediaFolders ?? []
  const current = folders.find(({ id }) => id === folderId) ?? null
  const to = (id: string | null) => withSearch('/media', search, { folder: id, asset: null })
  const within = folders.filter(({ parentId }) => parentId === (current?.id ?? null))
  const done = () => {
    setAsks(null)
    retry()
  }
  return (
    <nav className="folders" aria-label={say('media.folders')}>
      <ol className="trail">
        <li>
          <Link to={to(null)} aria-current={current ? undefined : 'page'}>
            <Icon of={Home} /> {say('media.title')}
          </Link>
        </li>
        {pathTo(folders, current).map(({ id, name }) => (
          <li key={id}>
            <Link to={to(id)} aria-current={id === folderId ? 'page' : undefined}>
              {name}
            </Link>
          </li>
        ))}
      </ol>
      {mayWrite && current && (
        <>
          <Button kind="quiet" icon={Pencil} name={say('media.folder-rename', { name: current.name })} onPress={() => setAsks('rename')} />
          <Button kind="quiet" icon={Trash2} name={say('media.folder-delete', { name: current.name })} onPress={() => setAsks('delete')} />
        </>
      )}
      {within.map(({ id, name, assetCount }) => (
        <Link key={id} className="button secondary" to={to(id)}>
          <Icon of={Folder} /> {name} <span className="quiet figures">{assetCount}</span>
        </Link>
      ))}
      {mayWrite && (
        <Button kind="quiet" icon={FolderPlus} onPress={() => setAsks('new')}>
          {say('media.folder-new')}
        </Button>
      )}
      {(asks === 'new' || (asks === 'rename' && current)) && (
        <FolderDialog
          brandId={brandId}
          parentId={current?.id ?? null}
          folder={asks === 'rename' ? current : null}
          onClose={() => setAsks(null)}
          onDone={done}
        />
      )}
      {asks === 'delete' && current && (
        <DeleteFolder
          folder={current}
          onClose={() => setAsks(null)}
          onDone={() => {
            done()
            goTo(to(current.parentId ?? null))
          }}
        />
      )}
    </nav>
  )
}

/** The folders in which a folder lies, from the outermost to itself. */
export function pathTo(folders: readonly MediaFolderFieldsFragment[], folder: MediaFolderFieldsFragment | null): readonly MediaFolderFieldsFragment[] {
  const path: MediaFolderFieldsFragment[] = []
  for (let at = folder; at && !path.includes(at); at = folders.find(({ id }) => id === path[0]?.parentId) ?? null) path.unshift(at)
  return path
}

interface FolderDialogProps {
  readonly brandId: string
  readonly parentId: string | null
  /** The one that gets another name; null for a new one. */
  readonly folder: MediaFolderFieldsFragment | null
  onClose(): void
  onDone(): void
}

function FolderDialog({ brandId, parentId, folder, onClose, onDone }: FolderDialogProps) {
  const [name, setName] = useState(folder?.name ?? '')
  const [created, create] = useMutation(CreateFolderDocument)
  const [renamed, rename] = useMutation(RenameFolderDocument)
  const [idempotencyKey] = useState(() => crypto.randomUUID())
  const problem = problemOf(created.error ?? renamed.error)
  async function save(event: FormEvent) {
    event.preventDefault()
    const answer = folder
      ? await rename({ input: { id: folder.id, name: name.trim(), expectedVersion: folder.version } })
      : await create({ input: { brandId, name: name.trim(), parentId, idempotencyKey } })
    if (!answer.error) onDone()
  }
  const title = folder ? say('media.folder-rename', { name: folder.name }) : say('media.folder-new')
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="form" onSubmit={event => void save(event)}>
        <Field label={say('media.folder-name')} value={name} onChange={setName} wrong={problem?.sentence} required />
        <div className="actions">
          <Button onPress={onClose}>{say('action.cancel')}</Button>
          <Button kind="primary" type="submit" isDisabled={name.trim() === '' || created.fetching || renamed.fetching}>
            {say(folder ? 'action.save' : 'media.folder-create')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function DeleteFolder({ folder, onClose, onDone }: { readonly folder: MediaFolderFieldsFragment; onClose(): void; onDone(): void }) {
  const [{ error, fetching }, drop] = useMutation(DeleteFolderDocument)
  const problem = problemOf(error)
  return (
    <Dialog title={say('media.folder-delete', { name: folder.name })} isAlert onClose={onClose}>
      <p>{say('media.folder-delete-sure')}</p>
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      <div className="actions">
        <Button onPress={onClose}>{say('action.cancel')}</Button>
        <Button
          kind="danger"
          isDisabled={fetching}
          onPress={() => void drop({ input: { id: folder.id, expectedVersion: folder.version } }).then(answer => !answer.error && onDone())}
        >
          {say('media.folder-delete', { name: folder.name })}
        </Button>
      </div>
    </Dialog>
  )
}
