import type { LucideIcon } from 'lucide-react'

/** An icon beside a word: it says nothing of its own. */
export const Icon = ({ of: Drawn, large = false }: { readonly of: LucideIcon; readonly large?: boolean }) => (
  <Drawn aria-hidden className={large ? 'icon large' : 'icon'} strokeWidth={1.75} />
)
