import { Clapperboard, ImageOff } from 'lucide-react'
import { useState } from 'react'
import { Icon } from '../../design/parts/icon.tsx'

/** A small picture of an asset; one that does not load hides itself, and an icon stands in its place. */
export function Preview({ url, alt, kind }: { readonly url: string | null | undefined; readonly alt: string; readonly kind: string }) {
  const [broken, setBroken] = useState<string | null>(null)
  if (url && broken !== url) return <img src={url} alt={alt} loading="lazy" decoding="async" onError={() => setBroken(url)} />
  return (
    <span className="missing">
      <Icon of={kind === 'VIDEO' ? Clapperboard : ImageOff} large />
    </span>
  )
}
