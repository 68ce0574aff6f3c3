from phoneprov_adapters.testing.stores.database import DatabaseContract as DatabaseContract
from phoneprov_adapters.testing.stores.sequences import Opening as Opening
