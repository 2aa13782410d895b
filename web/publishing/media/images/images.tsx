import { Sparkles } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../../design/parts/button.tsx'
import { Field } from '../../../design/parts/field.tsx'
import { Select } from '../../../design/parts/select.tsx'
import { toast } from '../../../design/parts/toast.tsx'
import { Link, useSearch } from '../../../shell/address.tsx'
import { problemOf } from '../../../shell/data/problems.ts'
import { useRights } from '../../../shell/frame/rights.ts'
import { Page } from '../../../shell/page.tsx'
import { afterOf, Pager } from '../../../shell/parts/listing.tsx'
import { useRead } from '../../../shell/read.ts'
import { Failure, Region } from '../../../shell/region.tsx'
import { lately } from '../../../shell/time.ts'
import { say } from '../../../shell/words.ts'
import { useBrand } from '../../brand/brand.ts'
import { Preview } from '../preview.tsx'
import { DrawImagesDocument, type ImageCardFragment, ImageModelsDocument, ImagesDocument } from './images.generated.ts'

const sizes = ['SQUARE', 'LANDSCAPE', 'PORTRAIT'] as const
const counts = ['1', '2', '3', '4'] as const

/** Pictures drawn of a description, into the library of the brand. */
export default function Images() {
  const { brand, isKnown } = useBrand()
  const search = useSearch()
  const mayWrite = useRights().may('publishing:posts.write')
  const { data, state, problem, retry } = useRead(
    ImagesDocument,
    { brandId: brand?.id ?? '', ...afterOf(search) },
    { pause: !brand, isEmpty: ({ generatedImages }) => generatedImages?.nodes?.length === 0 },
  )
  return (
    <Page title={say('images.title')}>
      {brand && mayWrite && <Draw brandId={brand.id} onDone={retry} />}
      <Region
        state={isKnown && !brand ? 'empty' : state}
        problem={problem}
        retry={retry}
        lines={6}
        empty={{ icon: Sparkles, sentence: say(brand ? 'images.empty' : 'brand.none') }}
      >
        <ul className="assets">{(data?.generatedImages?.nodes ?? []).map(each => each && <Card key={each.id} image={each} />)}</ul>
        <Pager path="/images" page={data?.generatedImages?.pageInfo} count={say('list.count', { count: data?.generatedImages?.totalCount ?? 0 })} />
      </Region>
    </Page>
  )
}

function Card({ image: { prompt, createdAt, previewUrl, previewBroken, asset, model } }: { readonly image: ImageCardFragment }) {
  return (
    <li className="asset">
      <Preview url={previewBroken ? null : previewUrl} alt={prompt} kind="IMAGE" />
      {asset ? (
        <Link className="clip" title={prompt} to={`/media?asset=${asset.id}`}>
          {prompt}
        </Link>
      ) : (
        <p className="clip" title={prompt}>
          {prompt}
        </p>
      )}
      <p className="quiet small">
        {model} · {lately(createdAt)}
      </p>
    </li>
  )
}

function Draw({ brandId, onDone }: { readonly brandId: string; onDone(): void }) {
  // Another model than the organization's own is for those who set up what it spends on.
  const mayChoose = useRights().may('providers:org.admin')
  const models = useRead(ImageModelsDocument, {}, { pause: !mayChoose })
  const [{ error, fetching }, draw] = useMutation(DrawImagesDocument)
  const [prompt, setPrompt] = useState('')
  const [size, setSize] = useState<(typeof sizes)[number]>('SQUARE')
  const [count, setCount] = useState('1')
  const [model, setModel] = useState('OWN')
  const [idempotencyKey, setKey] = useState(() => crypto.randomUUID())
  const problem = problemOf(error)
  const known = (models.data?.aiModels?.nodes ?? []).flatMap(each => (each?.configured ? [{ id: each.name, name: each.name }] : []))
  async function save(event: FormEvent) {
    event.preventDefault()
    const { data } = await draw({ input: { brandId, prompt: prompt.trim(), size, count: Number(count), ...(model !== 'OWN' && { model }), idempotencyKey } })
    if (!data?.generateImages) return
    setKey(crypto.randomUUID())
    toast({ sentence: say('images.done', { count: data.generateImages.images?.length ?? 0 }) })
    onDone()
  }
  return (
    <Region state="ready" title={say('images.draw')}>
      <form className="form" onSubmit={event => void save(event)}>
        <Field
          label={say('images.prompt')}
          value={prompt}
          onChange={setPrompt}
          rows={3}
          hint={say('images.prompt-hint')}
          wrong={problem?.field === 'prompt' ? problem.sentence : null}
        />
        <div className="filters">
          <Select
            label={say('images.size')}
            choices={sizes.map(id => ({ id, name: say(`images.${id}`) }))}
            value={size}
            onChange={id => setSize(sizes.find(each => each === id) ?? size)}
          />
          <Select label={say('images.count')} choices={counts.map(id => ({ id, name: id }))} value={count} onChange={setCount} />
          {known.length > 0 && (
            <Select label={say('images.model')} choices={[{ id: 'OWN', name: say('images.own-model') }, ...known]} value={model} onChange={setModel} />
          )}
        </div>
        {problem && problem.field !== 'prompt' && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
        <div className="actions">
          <Button kind="primary" type="submit" icon={Sparkles} isDisabled={fetching || prompt.trim() === ''}>
            {say(fetching ? 'images.drawing' : 'images.draw')}
          </Button>
        </div>
      </form>
    </Region>
  )
}
