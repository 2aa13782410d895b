import { Trash2, X } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Dialog } from '../../design/parts/dialog.tsx'
import { Field } from '../../design/parts/field.tsx'
import { Select } from '../../design/parts/select.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { goTo, Link } from '../../shell/address.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { locale } from '../../shell/place.ts'
import { useRead } from '../../shell/read.ts'
import { Failure, Region } from '../../shell/region.tsx'
import { moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { networks } from '../brand/networks.ts'
import { tagsOf } from '../brand/tags.ts'
import { DeleteAssetDocument, MediaDetailDocument, type MediaDetailQuery, MediaFoldersDocument, UpdateAssetDocument } from './media.generated.ts'
import { Preview } from './preview.tsx'

type Asset = NonNullable<MediaDetailQuery['mediaAsset']>

interface PanelProps {
  readonly id: string
  readonly brandId: string
  readonly back: string
  readonly mayWrite: boolean
  reload(): void
}

/** One asset beside the grid: what it is, where it is used, and what people say about it. */
export function AssetPanel({ id, brandId, back, mayWrite, reload }: PanelProps) {
  const { data, state, problem, retry } = useRead(MediaDetailDocument, { id })
  const asset = data?.mediaAsset
  return (
    <Region
      className="panel"
      aria-label={say('media.detail')}
      title={<h2 className="clip">{asset ? asset.title || asset.filename : say('media.detail')}</h2>}
      tools={<Button kind="quiet" icon={X} name={say('action.close')} onPress={() => goTo(back)} />}
      state={data && !asset ? 'error' : state}
      problem={problem}
      retry={retry}
    >
      {asset && <Details key={asset.version} asset={asset} brandId={brandId} back={back} mayWrite={mayWrite} reload={reload} />}
    </Region>
  )
}

const size = new Intl.NumberFormat(locale, { style: 'unit', unit: 'megabyte', maximumFractionDigits: 1 })

function Details({ asset, brandId, back, mayWrite, reload }: Omit<PanelProps, 'id'> & { readonly asset: Asset }) {
  const facts = [say(`media.${asset.kind}`), asset.width && `${asset.width} × ${asset.height}`, size.format(asset.bytes / 1_000_000), moment(asset.createdAt)]
  const posts = (asset.posts?.nodes ?? []).filter(each => each !== null)
  return (
    <>
      <div className="asset large">
        <Preview url={asset.previewBroken ? null : asset.previewUrl} alt={asset.altText ?? ''} kind={asset.kind} />
      </div>
      <p className="quiet small">{facts.filter(Boolean).join(' · ')}</p>
      {mayWrite && <AssetForm asset={asset} brandId={brandId} reload={reload} />}
      <h3>{say('media.usage', { count: asset.usage })}</h3>
      {posts.length > 0 && (
        <ul className="items">
          {posts.map(({ id, title, copy, platform }) => (
            <li key={id}>
              <Link className="clip" to={`/posts/${id}`}>
                {networks[platform]}: {title || copy || say('posts.without-text')}
              </Link>
            </li>
          ))}
        </ul>
      )}
      {mayWrite && <DeleteButton asset={asset} back={back} reload={reload} />}
    </>
  )
}

function AssetForm({ asset, brandId, reload }: { readonly asset: Asset; readonly brandId: string; reload(): void }) {
  const [{ error, fetching }, update] = useMutation(UpdateAssetDocument)
  const { data } = useRead(MediaFoldersDocument, { brandId })
  const [title, setTitle] = useState(asset.title ?? '')
  const [altText, setAltText] = useState(asset.altText ?? '')
  const [tags, setTags] = useState(asset.tags.join(', '))
  const [folderId, setFolderId] = useState(asset.folderId ?? 'NONE')
  const problem = problemOf(error)
  async function save(event: FormEvent) {
    event.preventDefault()
    const input = {
      id: asset.id,
      title: title.trim() || null,
      altText: altText.trim() || null,
      tags: tagsOf(tags),
      folderId: folderId === 'NONE' ? null : folderId,
      expectedVersion: asset.version,
    }
    const answer = await update({ input })
    if (answer.error) return
    toast({ sentence: say('media.saved') })
    reload()
  }
  const wrongAt = (field: string) => (problem?.field === field ? problem.sentence : null)
  return (
    <form className="form" onSubmit={event => void save(event)}>
      <Field label={say('media.name')} value={title} onChange={setTitle} hint={asset.filename} wrong={wrongAt('title')} />
      <Field label={say('media.alt')} value={altText} onChange={setAltText} rows={2} hint={say('media.alt-hint')} wrong={wrongAt('altText')} />
      <Field label={say('posts.tags')} value={tags} onChange={setTags} hint={say('compose.tags-hint')} wrong={wrongAt('tags')} />
      <Select
        label={say('media.folder')}
        choices={[{ id: 'NONE', name: say('media.no-folder') }, ...(data?.mediaFolders ?? [])]}
        value={folderId}
        onChange={setFolderId}
      />
      {problem && !problem.field && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      <div className="actions">
        <Button kind="primary" type="submit" isDisabled={fetching}>
          {say('action.save')}
        </Button>
      </div>
    </form>
  )
}

/** Deletes it after asking; posts that are in the way are named, each with the way to it. */
function DeleteButton({ asset, back, reload }: { readonly asset: Asset; readonly back: string; reload(): void }) {
  const [{ error, fetching }, drop] = useMutation(DeleteAssetDocument)
  const [asks, setAsks] = useState(false)
  const problem = problemOf(error)
  const inTheWay = problem?.reason === 'IN_USE' ? ((problem.details?.postIds as readonly string[] | undefined) ?? []) : []
  const known = new Map((asset.posts?.nodes ?? []).flatMap(each => (each ? [[each.id, each] as const] : [])))
  async function remove() {
    const answer = await drop({ input: { id: asset.id, expectedVersion: asset.version } })
    if (answer.error) return
    toast({ sentence: say('media.deleted') })
    reload()
    goTo(back)
  }
  return (
    <>
      <div className="actions">
        <Button kind="danger" icon={Trash2} onPress={() => setAsks(true)}>
          {say('media.delete')}
        </Button>
      </div>
      {asks && (
        <Dialog title={say('media.delete')} isAlert onClose={() => setAsks(false)}>
          <p>{say('media.delete-sure', { name: asset.title || asset.filename })}</p>
          {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
          {inTheWay.length > 0 && (
            <ul className="items">
              {inTheWay.map(id => (
                <li key={id}>
                  <Link to={`/posts/${id}`}>{known.get(id)?.title || known.get(id)?.copy || id}</Link>
                </li>
              ))}
            </ul>
          )}
          <div className="actions">
            <Button onPress={() => setAsks(false)}>{say('action.cancel')}</Button>
            <Button kind="danger" isDisabled={fetching} onPress={() => void remove()}>
              {say('media.delete')}
            </Button>
          </div>
        </Dialog>
      )}
    </>
  )
}
