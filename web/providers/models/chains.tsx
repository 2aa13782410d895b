import { ArrowDown, ArrowUp, Building2, Globe, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Select } from '../../design/parts/select.tsx'
import { Status } from '../../design/parts/status.tsx'
import { type Column, Table } from '../../design/parts/table.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { useRights } from '../../shell/frame/rights.ts'
import { FormDialog } from '../../shell/parts/ask.tsx'
import { useRead } from '../../shell/read.ts'
import { Region, type RegionProps } from '../../shell/region.tsx'
import { say } from '../../shell/words.ts'
import {
  type AiCapability,
  CallableModelsDocument,
  type ChainFragment,
  type PreferenceFragment,
  SetFallbackChainDocument,
  SetModelPreferenceDocument,
} from './models.generated.ts'

interface Row {
  readonly id: AiCapability
  readonly preference: PreferenceFragment
  readonly chain: ChainFragment | undefined
}

/** Which model answers where a call names none, and which answer when it does not, for each capability. */
export function Chains({
  preferences,
  chains,
  ...region
}: Pick<RegionProps, 'state' | 'problem' | 'retry'> & { readonly preferences: readonly PreferenceFragment[]; readonly chains: readonly ChainFragment[] }) {
  const { may } = useRights()
  const [edits, setEdits] = useState<Row | null>(null)
  const rows = preferences.map(preference => ({ id: preference.capability, preference, chain: chains.find(each => each.capability === preference.capability) }))
  const columns: readonly Column<Row>[] = [
    { id: 'capability', heading: say('models.capability'), cell: ({ id }) => say(`capability.${id}`) },
    { id: 'model', heading: say('models.default'), cell: ({ preference: { model } }) => model ?? '–' },
    { id: 'chain', heading: say('models.fallbacks'), isMain: true, cell: ({ chain }) => <span className="clip">{chain?.models.join(' → ') || '–'}</span> },
    {
      id: 'level',
      heading: say('level.heading'),
      cell: ({ preference: { level } }) => (
        <Status meaning="plain" icon={level === 'PLATFORM' ? Globe : Building2}>
          {say(`level.${level}`)}
        </Status>
      ),
    },
    ...(may('providers:org.admin')
      ? [
          {
            id: 'edit',
            heading: say('models.edit'),
            cell: (row: Row) => (
              <Button
                kind="quiet"
                onPress={() => setEdits(row)}
                aria-label={say('action.of', { action: say('models.edit'), name: say(`capability.${row.id}`) })}
              >
                {say('models.edit')}
              </Button>
            ),
          },
        ]
      : []),
  ]
  return (
    <Region {...region} title={say('models.answering')} isFlush lines={4}>
      <Table label={say('models.answering')} columns={columns} rows={rows} />
      {edits && <EditChain row={edits} retry={() => region.retry?.()} onClose={() => setEdits(null)} />}
    </Region>
  )
}

/** Orders the models of a capability: the first answers, the others follow when it does not. */
function EditChain({ row, retry, onClose }: { readonly row: Row; retry(): void; onClose(): void }) {
  const { data } = useRead(CallableModelsDocument, {})
  const [preferred, setPreference] = useMutation(SetModelPreferenceDocument)
  const [chained, setChain] = useMutation(SetFallbackChainDocument)
  const [model, setModel] = useState(row.preference.model ?? '')
  const [models, setModels] = useState<readonly string[]>(row.chain?.models ?? [])
  const callable = (data?.aiModels?.nodes ?? []).flatMap(each =>
    each?.configured && each.capability === row.id && each.lifecycle !== 'RETIRED' ? [each.name] : [],
  )
  const offered = [...new Set([...callable, ...(model ? [model] : [])])]
  const others = callable.filter(each => !models.includes(each) && each !== model)
  const move = (at: number, by: number) => {
    const moved = [...models]
    moved.splice(at + by, 0, ...moved.splice(at, 1))
    setModels(moved)
  }
  async function save() {
    const capability = row.id
    if (model && model !== row.preference.model) {
      const { data: set } = await setPreference({ input: { capability, model, allowedModels: [...row.preference.allowedModels] } })
      if (!set?.setModelPreference) return
    }
    const { data: done } = await setChain({ input: { capability, models: models.filter(each => each !== model) } })
    if (!done?.setFallbackChain) return
    toast({ sentence: say('models.saved') })
    retry()
    onClose()
  }
  return (
    <FormDialog
      title={say('models.edit-title', { capability: say(`capability.${row.id}`) })}
      verb={say('action.save')}
      isBusy={preferred.fetching || chained.fetching}
      problem={problemOf(preferred.error ?? chained.error)}
      onDo={() => void save()}
      onClose={onClose}
    >
      {offered.length > 0 && (
        <Select label={say('models.default')} value={model} onChange={setModel} choices={offered.map(each => ({ id: each, name: each }))} />
      )}
      <fieldset>
        <legend>{say('models.fallbacks')}</legend>
        <ol className="list">
          {models.map((each, at) => (
            <li key={each}>
              <span className="grow clip">{each}</span>
              <Button kind="quiet" icon={ArrowUp} name={say('models.up', { model: each })} isDisabled={at === 0} onPress={() => move(at, -1)} />
              <Button
                kind="quiet"
                icon={ArrowDown}
                name={say('models.down', { model: each })}
                isDisabled={at === models.length - 1}
                onPress={() => move(at, 1)}
              />
              <Button kind="quiet" icon={Trash2} name={say('models.out', { model: each })} onPress={() => setModels(models.filter(other => other !== each))} />
            </li>
          ))}
          {models.length === 0 && <li className="quiet">{say('models.no-fallback')}</li>}
        </ol>
      </fieldset>
      {others.length > 0 && (
        <div className="actions">
          {others.slice(0, 8).map(each => (
            <Button key={each} kind="quiet" icon={Plus} onPress={() => setModels([...models, each])}>
              {each}
            </Button>
          ))}
        </div>
      )}
    </FormDialog>
  )
}
