-- compatible: a program of before neither reads nor writes these columns.
-- When its provider has released a model; null: no source has said so.
alter table providers.models add column released_at timestamptz(3);
-- What an image costs by quality and size, in micro-US-dollars: [{ "quality", "size", "micros" }]; empty: each costs image_micros.
alter table providers.models add column image_prices jsonb not null default '[]' check (jsonb_typeof(image_prices) = 'array');

-- As OpenAI lists them; a square of medium quality costs what the catalogue says of one image.
update providers.models m set version = m.version + 1, image_prices = (
  select jsonb_agg(jsonb_build_object('quality', p.quality, 'size', p.size, 'micros', p.micros) order by p.micros, p.size)
    from (values
      ('openai/gpt-image-1', 'low', '1024x1024', 11000), ('openai/gpt-image-1', 'low', '1024x1536', 16000), ('openai/gpt-image-1', 'low', '1536x1024', 16000),
      ('openai/gpt-image-1', 'medium', '1024x1024', 40000), ('openai/gpt-image-1', 'medium', '1024x1536', 63000), ('openai/gpt-image-1', 'medium', '1536x1024', 63000),
      ('openai/gpt-image-1', 'high', '1024x1024', 167000), ('openai/gpt-image-1', 'high', '1024x1536', 250000), ('openai/gpt-image-1', 'high', '1536x1024', 250000),
      ('openai/gpt-image-1-mini', 'low', '1024x1024', 5000), ('openai/gpt-image-1-mini', 'low', '1024x1536', 6000), ('openai/gpt-image-1-mini', 'low', '1536x1024', 6000),
      ('openai/gpt-image-1-mini', 'medium', '1024x1024', 10000), ('openai/gpt-image-1-mini', 'medium', '1024x1536', 15000), ('openai/gpt-image-1-mini', 'medium', '1536x1024', 15000),
      ('openai/gpt-image-1-mini', 'high', '1024x1024', 36000), ('openai/gpt-image-1-mini', 'high', '1024x1536', 52000), ('openai/gpt-image-1-mini', 'high', '1536x1024', 52000)
    ) as p (name, quality, size, micros) where p.name = m.name)
 where m.name in ('openai/gpt-image-1', 'openai/gpt-image-1-mini');
