import { BadgeDollarSign, Boxes, CircleAlert, CircleCheck, CircleHelp, Hourglass } from 'lucide-react'
import { Note, Status } from '../../design/parts/status.tsx'
import { type Column, Table } from '../../design/parts/table.tsx'
import { useSearch } from '../../shell/address.tsx'
import { Page } from '../../shell/page.tsx'
import { chosenOf, Filters, type Pill } from '../../shell/parts/filters.tsx'
import { Listing, pageOf } from '../../shell/parts/listing.tsx'
import { dollars } from '../../shell/parts/money.ts'
import { useRead } from '../../shell/read.ts'
import { Region } from '../../shell/region.tsx'
import { lately, moment } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { providerTitle } from '../names.ts'
import { Chains } from './chains.tsx'
import { type AiCapability, type GovernanceFragment, type ModelLifecycle, type ModelRowFragment, ModelsPageDocument } from './models.generated.ts'

const capabilities: readonly AiCapability[] = ['CHAT', 'IMAGE', 'TRANSCRIPTION', 'EMBEDDING']
const lifecycles: readonly ModelLifecycle[] = ['ACTIVE', 'DEPRECATED', 'RETIRED']

/** Which models there are, which answer where, and what ends when. */
export default function Models() {
  const search = useSearch()
  const offered = pills()
  const { capability, lifecycle } = chosenOf(search, offered)
  const variables = {
    ...pageOf(search),
    ...(capability && { capability: capability as AiCapability }),
    ...(lifecycle && { lifecycle: lifecycle as ModelLifecycle }),
  }
  const { data, state, problem, retry } = useRead(ModelsPageDocument, variables)
  const rows = (data?.aiModels?.nodes ?? []).flatMap(each => (each ? [{ ...each, id: each.name }] : []))
  return (
    <Page title={say('models.title')}>
      {data?.modelGovernance && <Warnings governance={data.modelGovernance} />}
      <Chains preferences={data?.modelPreferences ?? []} chains={data?.fallbackChains ?? []} state={state} problem={problem} retry={retry} />
      <Filters path="/models" search={search} pills={offered} />
      <Listing
        label={say('models.title')}
        path="/models"
        columns={columns()}
        rows={rows}
        state={state === 'ready' && rows.length === 0 ? 'empty' : state}
        problem={problem}
        retry={retry}
        page={data?.aiModels?.pageInfo}
        total={data?.aiModels?.totalCount}
        attributes={({ name }) => ({ 'data-model': name })}
        empty={{ icon: Boxes, sentence: say(capability || lifecycle ? 'list.nothing' : 'models.empty') }}
      />
      {data?.modelGovernance && <Sources governance={data.modelGovernance} />}
    </Page>
  )
}

const pills = (): readonly (Pill & { readonly name: 'capability' | 'lifecycle' })[] => [
  { name: 'capability', heading: say('models.capability'), values: capabilities, title: value => say(`capability.${value}`) },
  { name: 'lifecycle', heading: say('models.lifecycle'), values: lifecycles, title: value => say(`lifecycle.${value}`) },
]

/** What needs somebody: models that end, and models without a price. */
function Warnings({ governance: { lifecycle, unpricedModels } }: { readonly governance: GovernanceFragment }) {
  const ending = lifecycle.filter(each => each.lifecycle === 'DEPRECATED')
  if (ending.length === 0 && unpricedModels.length === 0) return null
  return (
    <Region title={say('models.attention')} state="ready">
      {ending.map(({ model, retiresAt, replacement }) => (
        <Note key={model} meaning="warning" icon={Hourglass}>
          {say(retiresAt ? 'models.ends' : 'models.ends-sometime', { model, when: retiresAt ? moment(retiresAt) : '' })}
          {replacement && ` ${say('models.replacement', { model: replacement })}`}
        </Note>
      ))}
      {unpricedModels.length > 0 && (
        <Note meaning="info" icon={BadgeDollarSign}>
          {say('models.unpriced', { count: unpricedModels.length, models: unpricedModels.slice(0, 5).join(', ') })}
        </Note>
      )}
    </Region>
  )
}

const looks = { HEALTHY: ['positive', CircleCheck], FAILING: ['danger', CircleAlert], NEVER: ['plain', CircleHelp] } as const

/** Where the gateway learns which models there are. */
function Sources({ governance: { sources } }: { readonly governance: GovernanceFragment }) {
  if (sources.length === 0) return null
  const columns: readonly Column<(typeof sources)[number] & { readonly id: string }>[] = [
    { id: 'name', heading: say('models.source'), isMain: true, cell: ({ name }) => name },
    {
      id: 'status',
      isKept: true,
      heading: say('models.source-state'),
      cell: ({ status }) => (
        <Status meaning={looks[status][0]} icon={looks[status][1]}>
          {say(`source.${status}`)}
        </Status>
      ),
    },
    { id: 'models', heading: say('models.count'), cell: ({ models }) => models },
    { id: 'at', heading: say('models.read'), cell: ({ lastSuccessAt, failure }) => failure ?? (lastSuccessAt ? lately(lastSuccessAt) : '–') },
  ]
  return (
    <Region title={say('models.sources')} isFlush state="ready">
      <Table label={say('models.sources')} columns={columns} rows={sources.map(each => ({ ...each, id: each.name }))} />
    </Region>
  )
}

const columns = (): readonly Column<ModelRowFragment & { readonly id: string }>[] => [
  { id: 'name', heading: say('models.model'), isMain: true, cell: ({ name }) => <span className="clip">{name}</span> },
  { id: 'provider', heading: say('models.provider'), cell: ({ provider }) => providerTitle(provider) },
  { id: 'capability', heading: say('models.capability'), cell: ({ capability }) => say(`capability.${capability}`) },
  { id: 'price', heading: say('models.price'), cell: priceOf },
  {
    id: 'state',
    isKept: true,
    heading: say('models.lifecycle'),
    cell: ({ lifecycle, configured, retiresAt }) =>
      lifecycle === 'ACTIVE' ? (
        <Status meaning={configured ? 'positive' : 'plain'} icon={configured ? CircleCheck : CircleHelp}>
          {say(configured ? 'models.callable' : 'models.known')}
        </Status>
      ) : (
        <Status meaning="warning" icon={Hourglass}>
          {retiresAt ? say('models.until', { when: moment(retiresAt) }) : say(`lifecycle.${lifecycle}`)}
        </Status>
      ),
  },
]

/** What a model costs, in its own measure; a dash where nobody knows. */
function priceOf({ inputMicrosPerMillion, outputMicrosPerMillion, imageMicros, minuteMicros }: ModelRowFragment): string {
  const is = (value: string | number | null | undefined) => value !== null && value !== undefined
  if (is(inputMicrosPerMillion))
    return say('models.per-million', { input: dollars(inputMicrosPerMillion), output: is(outputMicrosPerMillion) ? dollars(outputMicrosPerMillion) : '–' })
  if (is(imageMicros)) return say('models.per-image', { price: dollars(imageMicros) })
  return is(minuteMicros) ? say('models.per-minute', { price: dollars(minuteMicros) }) : '–'
}
