import { Search } from 'lucide-react'
import { lazy, Suspense, useEffect, useState } from 'react'
import { Button } from '../../../design/parts/button.tsx'
import type { AppPages } from '../../pages.ts'
import { say } from '../../words.ts'
import type { FindRecords } from './match.ts'

const loadDialog = () => import('./dialog.tsx')
const PaletteDialog = lazy(loadDialog)

/** The button of the command palette, and Ctrl K or ⌘K, which open it from everywhere. */
export function Palette({ pages, records }: { readonly pages: AppPages; readonly records: FindRecords | null }) {
  const [isOpen, setOpen] = useState(false)
  useEffect(() => {
    const press = (event: globalThis.KeyboardEvent) => {
      // The second key comes in a moment.
      if (event.key === 'Control' || event.key === 'Meta') void loadDialog()
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return
      event.preventDefault()
      setOpen(true)
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
  return (
    <>
      <Button kind="quiet" icon={Search} name={say('palette.open')} onPress={() => setOpen(true)} />
      {isOpen && (
        <Suspense>
          <PaletteDialog pages={pages} records={records} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  )
}
